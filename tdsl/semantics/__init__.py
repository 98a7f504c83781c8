"""From the syntax tree to the semantic model: names, types, units, values, models, groups. No arrays yet."""
