// What an ordinary lexer cannot read of .fab: which line ends end a statement, where one ends without a line end, where a kind
// names a setting, what stands in a string, and where `5%` is a share and not a remainder. The rules are those of layout.py,
// parser.py and strings.py in tdsl/syntax, and of fab.lark.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tree_sitter/parser.h"
#include "words.h"

enum Token {
  NEWLINE, JOINED, CLOSE, NAMED, BLOCK_END, PERCENT, QUOTE, TEXT, PLACEHOLDER, UNQUOTE, LPAR, RPAR, LSQB, RSQB, LBRACE
};

// How many brackets are open: a line end inside them ends nothing.
typedef struct {
  uint8_t depth;
} Scanner;

static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f'; }
static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static bool is_letter(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_in(const char *set, int32_t c) { return c > 0 && c < 128 && strchr(set, c); }

static bool is_one_of(const char *const *words, const char *word) {
  for (; *words; words++) {
    if (!strcmp(*words, word)) return true;
  }
  return false;
}

// Read a name, or nothing. What is longer than any word is cut.
static void read_word(TSLexer *lexer, char *out) {
  unsigned n = 0;
  if (is_letter(lexer->lookahead)) {
    while (is_letter(lexer->lookahead) || is_digit(lexer->lookahead)) {
      if (n < LONGEST_WORD + 1) out[n++] = (char)lexer->lookahead;
      lexer->advance(lexer, false);
    }
  }
  out[n] = 0;
}

// The first word of the next line that has one.
static void next_line(TSLexer *lexer, char *word) {
  while (is_blank(lexer->lookahead) || lexer->lookahead == '\n' || lexer->lookahead == '#') {
    if (lexer->lookahead == '#') {
      while (lexer->lookahead != '\n' && !lexer->eof(lexer)) lexer->advance(lexer, false);
    } else {
      lexer->advance(lexer, false);
    }
  }
  read_word(lexer, word);
}

// Whether what follows a name inside brackets shows that they were forgotten: two operands side by side begin a statement.
static bool begins_statement(TSLexer *lexer, const char *word) {
  if (!*word || is_one_of(INFIX, word) || !is_blank(lexer->lookahead)) return false;
  while (is_blank(lexer->lookahead)) lexer->advance(lexer, false);
  if (is_digit(lexer->lookahead) || lexer->lookahead == '"') return true;
  char second[LONGEST_WORD + 2];
  read_word(lexer, second);
  return *second && !is_one_of(INFIX, second);
}

static bool scan_newline(Scanner *scanner, TSLexer *lexer, bool after_block) {
  char word[LONGEST_WORD + 2];
  lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  next_line(lexer, word);
  bool joined;
  if (scanner->depth) {
    joined = !begins_statement(lexer, word);
  } else {
    joined = after_block ? !strcmp(word, "else") : is_one_of(CONTINUING, word);
  }
  if (!joined) scanner->depth = 0;
  lexer->result_symbol = joined ? JOINED : NEWLINE;
  return true;
}

// Whether a kind is the name of a setting (`rack 1..16`) or begins a declaration (`rack r[16]`): what follows tells.
static bool scan_named(TSLexer *lexer) {
  lexer->mark_end(lexer);
  lexer->result_symbol = NAMED;
  if (!is_letter(lexer->lookahead)) return !is_in("\":[(\n;#", lexer->lookahead);
  char word[LONGEST_WORD + 2];
  read_word(lexer, word);
  while (is_blank(lexer->lookahead)) lexer->advance(lexer, false);
  if (lexer->lookahead == ',') return true;
  if (lexer->lookahead == '.') {
    lexer->advance(lexer, false);
    return lexer->lookahead == '.';
  }
  read_word(lexer, word);
  return !strcmp(word, "x") || !strcmp(word, "as");
}

static bool scan_percent(TSLexer *lexer) {
  while (is_digit(lexer->lookahead) || lexer->lookahead == '_') lexer->advance(lexer, false);
  if (lexer->lookahead == '.') {
    lexer->advance(lexer, false);
    if (!is_digit(lexer->lookahead)) return false;
    while (is_digit(lexer->lookahead)) lexer->advance(lexer, false);
  }
  if (lexer->lookahead != '%') return false;
  lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  lexer->result_symbol = PERCENT;
  int32_t c = lexer->lookahead;
  return !is_letter(c) && !is_digit(c) && c < 128 && !is_in("([\"$", c);
}

static bool in_string(TSLexer *lexer) {
  return lexer->lookahead != '"' && lexer->lookahead != '\n' && !lexer->eof(lexer);
}

// The quote that begins a string, if there is one that ends it.
static bool scan_quote(TSLexer *lexer) {
  lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  while (in_string(lexer)) lexer->advance(lexer, false);
  lexer->result_symbol = QUOTE;
  return lexer->lookahead == '"';
}

// What follows `{`, up to the brace that closes it.
static bool skip_placeholder(TSLexer *lexer) {
  for (unsigned depth = 1; in_string(lexer); lexer->advance(lexer, false)) {
    if (is_in("([{", lexer->lookahead)) depth++;
    if (is_in(")]}", lexer->lookahead) && !--depth) {
      bool closed = lexer->lookahead == '}';
      lexer->advance(lexer, false);
      return closed;
    }
  }
  return false;
}

// The next part of a string: text, in which braces are doubled, a placeholder, or its end.
static bool scan_string(TSLexer *lexer) {
  lexer->result_symbol = TEXT;
  bool text = false;
  for (; in_string(lexer); text = true) {
    if (lexer->lookahead == '{') {
      lexer->advance(lexer, false);
      if (lexer->lookahead != '{') {
        if (text) return true;
        if (skip_placeholder(lexer)) {
          lexer->result_symbol = PLACEHOLDER;
          lexer->mark_end(lexer);
          return true;
        }
        while (in_string(lexer)) lexer->advance(lexer, false);
        lexer->mark_end(lexer);
        return true;
      }
    }
    lexer->advance(lexer, false);
    lexer->mark_end(lexer);
  }
  if (text || lexer->lookahead != '"') return text;
  lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  lexer->result_symbol = UNQUOTE;
  return true;
}

static bool scan_bracket(Scanner *scanner, TSLexer *lexer, const bool *valid) {
  static const char brackets[] = "()[]{";
  int32_t found = lexer->lookahead;
  if (!is_in(brackets, found)) return false;
  unsigned token = LPAR + (unsigned)(strchr(brackets, found) - brackets);
  if (!valid[token]) return false;
  lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  lexer->result_symbol = (TSSymbol)token;
  if (found == '{') {
    scanner->depth = 0;
  } else if (found == '(' || found == '[') {
    if (scanner->depth < UINT8_MAX) scanner->depth++;
  } else if (scanner->depth) {
    scanner->depth--;
  }
  return true;
}

bool tree_sitter_fab_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  Scanner *scanner = payload;
  bool recovering = valid[BLOCK_END] && valid[PERCENT];  // no state wants both
  if (valid[TEXT] && !recovering) return scan_string(lexer);
  while (is_blank(lexer->lookahead)) lexer->advance(lexer, true);
  if (valid[NAMED] && !recovering) return scan_named(lexer);
  if (lexer->lookahead == '}' || lexer->eof(lexer)) {
    if (!valid[CLOSE] || recovering) return false;
    lexer->mark_end(lexer);
    lexer->result_symbol = CLOSE;
    return true;
  }
  if (lexer->lookahead == '\n') return scan_newline(scanner, lexer, valid[BLOCK_END] && !recovering);
  if (is_digit(lexer->lookahead)) return valid[PERCENT] && scan_percent(lexer);
  if (lexer->lookahead == '"') return valid[QUOTE] && scan_quote(lexer);
  return scan_bracket(scanner, lexer, valid);
}

void *tree_sitter_fab_external_scanner_create(void) { return calloc(1, sizeof(Scanner)); }

void tree_sitter_fab_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_fab_external_scanner_serialize(void *payload, char *buffer) {
  buffer[0] = (char)((Scanner *)payload)->depth;
  return 1;
}

void tree_sitter_fab_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  ((Scanner *)payload)->depth = length ? (uint8_t)buffer[0] : 0;
}
