"""What is really cabled: captures of live networks, and the fewest mistakes that explain them."""
