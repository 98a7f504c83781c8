package tree_sitter_fab_test

import (
	"testing"

	tree_sitter "github.com/smacker/go-tree-sitter"
	"github.com/tree-sitter/tree-sitter-fab"
)

func TestCanLoadGrammar(t *testing.T) {
	language := tree_sitter.NewLanguage(tree_sitter_fab.Language())
	if language == nil {
		t.Errorf("Error loading Fab grammar")
	}
}
