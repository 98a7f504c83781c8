// The .fab language for tree-sitter. The rules are those of ../fab.lark, in the same order; its words and terminals come from
// words.json, which scripts/editor-grammars writes. src/scanner.c reads what an ordinary lexer cannot: which line ends count.

const { kinds, devices, terminals, words } = require("./words.json");

/** A word of the grammar. It is a name wherever the word cannot stand. */
function word(text) {
  if (!words.includes(text)) throw new Error(`${text} is no word of fab.lark`);
  return text;
}

const any = (...texts) => choice(...texts.map(word));
const re = (name) => new RegExp(terminals[name]);
const list1 = (rule) => seq(rule, repeat(seq(",", rule)));
const ending = (rule) => seq(list1(rule), optional(","));

module.exports = grammar({
  name: "fab",
  word: ($) => $.name,
  extras: ($) => [$._blank, $.comment, $._joined],

  // `_newline` ends a statement; `_joined` is a line end that does not. Of no text are `_close`, before `}` and at the end of the
  // file, and `_named`, after a kind that is the name of a setting: `rack 1..16`. `_block_end` is never read: it tells the
  // scanner that a block has just ended.
  externals: ($) => [
    $._newline, $._joined, $._close, $._named, $._block_end, $.percent, $._quote, $.text, $.placeholder, $._unquote,
    "(", ")", "[", "]", "{",
  ],

  rules: {
    module: ($) => repeat(choice($._statement, $._stop)),
    _stop: ($) => choice($._newline, ";"),
    _statement: ($) => seq(choice($._common, $.declaration), choice($._stop, $._close)),
    _common: ($) => choice(
      $.use, $.param, $.let, $.def, $.model, $.topology, $.job, $.connect, $.omit, $.naming, $.extend, $.override, $.place, $.require,
      $.phase, $.if, $.for, $.tier, $.setting,
    ),
    block: ($) => seq("{", repeat(choice($._statement, $._stop)), "}", optional($._block_end)),

    // In a tier's or a setting's block `switch M` and `switch M { … }` name a model, and declare nothing.
    settings: ($) => seq("{", repeat(choice($._in_settings, $._stop)), "}", optional($._block_end)),
    _in_settings: ($) => seq(
      choice($._common, alias($.model_setting, $.setting), alias($.full_declaration, $.declaration)), choice($._stop, $._close)),
    model_setting: ($) => choice(
      seq(field("name", alias($.device, $.name)), alias($.model_item, $.item), optional($.block)),
      seq(field("name", alias($.other_kind, $.name)), alias($.model_item, $.item)),
    ),
    model_item: ($) => alias($.model_path, $.path),
    model_path: ($) => $.name,

    use: ($) => seq(word("use"), field("from", $.dotted), "(", ending($.import), ")"),
    dotted: ($) => seq($.name, repeat(seq(".", $.name))),
    import: ($) => seq(field("name", $.name), optional(seq(word("as"), field("alias", $.name)))),

    param: ($) => seq(word("param"), field("name", $.name), optional($._typed), "=", field("value", $._value), optional($.guard)),
    let: ($) => seq(word("let"), field("name", $.name), optional($._typed), "=", field("value", $._value), optional($.guard)),
    def: ($) => seq(word("def"), field("name", $.name), "(", optional($.formals), ")", optional($._typed), "=",
      field("value", $._value)),
    formals: ($) => ending($.formal),
    formal: ($) => seq(field("name", $.name), $._typed, optional(seq("=", field("default", $._value)))),
    _typed: ($) => seq(":", field("type", $.type)),
    type: ($) => $.name,
    guard: ($) => seq(word("where"), $._expression),

    declaration: ($) => seq(field("kind", $.kind), field("name", $.name), optional($._declared)),
    full_declaration: ($) => choice(
      seq(field("kind", alias($.device, $.kind)), field("name", $.name), $._specified),
      seq(field("kind", alias($.other_kind, $.kind)), field("name", $.name), $._declared),
    ),
    _declared: ($) => choice($._specified, $.block),
    _specified: ($) => choice(
      seq($.shape, optional(field("title", $.string)), optional($._of), optional($.block)),
      seq(field("title", $.string), optional($._of), optional($.block)),
      seq($._of, optional($.block)),
    ),
    _of: ($) => seq(":", field("model", $._sum)),
    kind: ($) => any(...kinds),
    device: ($) => any(...devices),
    other_kind: ($) => any(...kinds.filter((kind) => !devices.includes(kind))),
    shape: ($) => seq("[", list1($.extent), "]"),
    extent: ($) => seq($._value, optional(seq(word("of"), $._sum))),
    model: ($) => seq(word("model"), field("kind", choice($.kind, alias($.name, $.kind))), field("name", $.name),
      optional(field("title", $.string)), $.block),
    topology: ($) => seq(word("topology"), field("name", $.name), "(", optional($.formals), ")", $.block),
    job: ($) => seq(word("job"), field("name", $.name), optional(field("title", $.string)), optional($._of), $.block),
    tier: ($) => seq(word("tier"), field("name", $.name), word("of"), choice($._sum, $.hole), field("model", $.name),
      optional(seq(word("by"), field("by", $.name))), alias($.settings, $.block)),
    phase: ($) => seq(word("phase"), $.number, $.block),

    connect: ($) => seq(any("connect", "circuit"), $._ends, optional(seq(word("to"), $._ends)),
      choice(
        seq(optional(choice($.pattern, $.copies)), optional(choice($.via, $.guard, seq($.via, $.guard), seq($.guard, $.via)))),
        alias($.x_pattern, $.pattern),
      ),
      optional($.block)),
    _ends: ($) => list1($.path),
    pattern: ($) => seq(field("name", $.name), repeat($.detail)),
    x_pattern: ($) => field("name", alias(word("x"), $.name)), // `x` with no number behind it
    detail: ($) => choice(seq(any("x", "shift", "degree", "seed"), $._sum), any("uneven", "any")),
    copies: ($) => seq(word("x"), $._sum),
    via: ($) => seq(word("via"), $.path),

    omit: ($) => seq(word("omit"), $._ends, optional($.guard)),
    naming: ($) => seq(word("naming"), $.path, $.string, optional($.guard)),
    extend: ($) => seq(word("extend"), $.path, $.block),
    override: ($) => seq(word("override"), $.path, optional($._typed), optional($.block)),
    place: ($) => seq(word("place"), $.path, word("in"), $._ends, optional(seq(repeat(alias($.name, $.manner)),
      any("at", "from"), $._sum)), optional($.block)),

    require: ($) => seq(any("require", "report"), $.claim, repeat(seq(word("and"), $.claim))),
    claim: ($) => seq($._claim, optional($.given)),
    given: ($) => seq(word("with"), alias($.bare_claim, $.claim)),
    bare_claim: ($) => $._claim,
    _claim: ($) => seq(field("name", $.name), repeat(choice($._literal, $.path)), repeat($.qualifier), optional($._compare)),
    qualifier: ($) => choice(
      seq(word("of"), $._ends, optional(seq(word("to"), $._ends))),
      seq(word("of"), word("all"), $._ends),
      seq(word("of"), alias($.all_path, $.path), repeat(seq(",", $.path)), optional(seq(word("to"), $._ends))),
      seq(any("among", "at"), $._ends),
      seq(any("under", "through"), $.name),
      seq(any("any", "over"), $._sum, optional($.name)),
    ),
    all_path: ($) => seq(alias($.all_name, $.name), repeat(choice($.dot, $.index, $.call))), // of what is called `all`
    all_name: () => word("all"),
    _compare: ($) => seq($.comparator, $._sum, optional(seq(word("of"), any("intact", "active", "network", "total")))),

    if: ($) => seq(word("if"), $._expression, $.block, optional($.else)),
    else: ($) => seq(word("else"), choice($.block, $.if)),
    for: ($) => seq(word("for"), field("name", $.name), word("in"), $._entry, $.block),

    setting: ($) => seq(field("name", choice($.name, $._kind_name)), optional(list1($.item)),
      optional(alias($.settings, $.block))),
    _kind_name: ($) => seq(alias($.kind, $.name), $._named),
    // `twist z by 4 along x` ends with the name of a dimension
    item: ($) => seq($._value, repeat(choice($._literal, $.path, $.worded)), optional(alias(word("x"), $.name))),
    worded: ($) => seq(any("x", "to", "of", "via", "from", "at"), $._sum),

    _value: ($) => choice($._expression, $.range, $.hole),
    _entry: ($) => choice($._expression, $.range),
    range: ($) => seq($._sum, "..", $._sum),
    hole: () => "?",

    _expression: ($) => choice($._or, $.conditional),
    conditional: ($) => seq($._or, word("if"), $._or, word("else"), $._expression),
    _or: ($) => choice($._and, alias($.or, $.binary)),
    or: ($) => seq($._or, word("or"), $._and),
    _and: ($) => choice($._not, alias($.and, $.binary)),
    and: ($) => seq($._and, word("and"), $._not),
    _not: ($) => choice($._comparison, alias($.not, $.unary)),
    not: ($) => seq(word("not"), $._not),
    _comparison: ($) => choice($._sum, $.comparison),
    comparison: ($) => seq($._sum, repeat1(choice(seq($.comparator, $._sum), seq(word("in"), choice($._sum, $.range))))),
    _sum: ($) => choice($._product, alias($.sum, $.binary)),
    sum: ($) => seq($._sum, choice("+", "-"), $._product),
    _product: ($) => choice($._signed, alias($.product, $.binary)),
    product: ($) => seq($._product, choice("*", "/", "//", "%"), $._signed),
    _signed: ($) => choice($._power, alias($.negative, $.unary)),
    negative: ($) => seq("-", $._signed),
    _power: ($) => choice($._primary, alias($.power, $.binary)),
    power: ($) => seq($._primary, "**", $._signed),
    _primary: ($) => choice($._literal, $.path, $.list, $.comprehension, $.at, $.paren, $.tuple),

    list: ($) => seq("[", optional(ending($._entry)), "]"),
    comprehension: ($) => seq("[", $._entry, word("for"), field("name", $.name), word("in"), $._entry, "]"),
    at: ($) => seq(choice($.list, $.comprehension, $.at), "[", list1($._entry), "]"),
    paren: ($) => seq("(", $._entry, ")"),
    tuple: ($) => seq("(", $._entry, repeat1(seq(",", $._entry)), optional(","), ")"),

    path: ($) => seq($.name, repeat(choice($.dot, $.index, $.call))),
    dot: ($) => seq(".", field("name", $.name)),
    index: ($) => seq("[", list1(choice($._entry, $.star)), "]"),
    star: () => "*",
    call: ($) => seq("(", optional(ending($._entry)), ")"),

    // Of two that match as much the first counts, as in fab.lark.
    _literal: ($) => choice(
      $.address, alias($.base16, $.number), $.dimensions, $.ratio, $.quantity, $.percent, $.money, $.number, $.string,
    ),
    address: () => re("NET"),
    base16: () => re("BASE16"),
    dimensions: () => re("DIMS"),
    ratio: () => re("RATIO"),
    money: () => re("MONEY"),
    quantity: () => re("QUANTITY"),
    number: () => re("NUMBER"),
    string: ($) => seq(alias($._quote, '"'), repeat(choice($.text, $.placeholder)), alias($._unquote, '"')),
    comparator: () => re("CMP"),
    name: () => re("NAME"),
    comment: () => re("COMMENT"),
    _blank: () => re("BLANK"),
  },
});
