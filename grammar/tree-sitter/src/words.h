// Made by scripts/editor-grammars of tdsl/syntax/keywords.py.

#include <stddef.h>

#define LONGEST_WORD 5

static const char *const CONTINUING[] = {"and", "or", "to", "via", "where", "with", NULL};
static const char *const INFIX[] = {"and", "as", "else", "for", "if", "in", "not", "of", "or", NULL};
