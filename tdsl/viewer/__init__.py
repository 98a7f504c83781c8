"""The page that shows a whole fabric in a browser."""
