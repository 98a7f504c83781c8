"""Text to tree: scanner, parser with recovery, wording of syntax errors, and the formatter."""
