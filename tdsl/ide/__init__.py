"""What an editor asks about a text, as functions over text, tree and results. Nothing here knows the
protocol."""
