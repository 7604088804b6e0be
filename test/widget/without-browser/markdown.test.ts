// For src/widget/view/markdown/
import { Session } from "node:inspector/promises";
import fc from "fast-check";
import type { MarkedToken, Token } from "marked";
import { describe, expect, test } from "vitest";
import { tokensOf } from "../../../src/widget/view/markdown/block-lexer.ts";
import { inlineTokens } from "../../../src/widget/view/markdown/inline-tokens.ts";

const MARKS: Partial<Record<string, string>> = { em: "em", strong: "b", del: "del", codespan: "code" };

/** A short picture of what is shown: `<b>…</b>`, `<a href>…</a>`, one line for each block. */
function picture(tokens: readonly Token[]): string {
  return (tokens as MarkedToken[])
    .map((token): string => {
      if (token.type === "br") return "/";
      if (token.type === "escape") return token.text.replaceAll("\n", "/");
      if (token.type === "space" || token.type === "def") return "";
      if (token.type === "link") return `<a ${token.href}>${picture(token.tokens)}</a>`;
      if (token.type === "image") return `<img ${token.href}>`;
      const inner =
        "tokens" in token && token.tokens ? picture(token.tokens) : "text" in token ? token.text : "";
      const mark = MARKS[token.type];
      return mark === undefined ? inner : `<${mark}>${inner}</${mark}>`;
    })
    .join("");
}

const shown = (text: string) => picture(tokensOf(text));

describe("W1: emphasis beside Chinese, Japanese and Korean", () => {
  test.each([
    ["これは**「重要」**です。", "これは<b>「重要」</b>です。"],
    ["**注意：**正文", "<b>注意：</b>正文"],
    ["**この文(文)**を", "<b>この文(文)</b>を"],
    ["**이 용어(This term)**를 강조", "<b>이 용어(This term)</b>를 강조"],
    ["请看**“引文”**的", "请看<b>“引文”</b>的"],
    ["这是~~（旧）~~新", "这是<del>（旧）</del>新"],
    ["太*“好”*了", "太<em>“好”</em>了"],
    ["**`code`**を", "<b><code>code</code></b>を"],
    // Elsewhere nothing changes.
    ['a**"b"**c', 'a**"b"**c'],
    ["snake_case_name, 蛇_蛇_蛇", "snake_case_name, 蛇_蛇_蛇"],
  ])("%s", (text, picture) => {
    expect(shown(text)).toBe(picture);
  });
});

describe("W4: formulae are left as they are written, and money is money", () => {
  test.each([
    "\\(a^2+b^2\\)",
    "$$\\frac{1}{2}$$ costs $5 and $6",
    "where $a_1*b_1$ and $c_1*d_1$ are",
    "\\[ x * y * z \\]",
    "costs $5, not US$6_or_7",
    "$5*2 and $6*3",
    "$$\\begin{aligned}a_1*b*c\\\\d\\end{aligned}$$",
  ])("%s", (text) => {
    expect(shown(text)).toBe(text);
  });

  test.each([
    ["*$5* and *$6*", "<em>$5</em> and <em>$6</em>"],
    ["*US$* and *CA$*", "<em>US$</em> and <em>CA$</em>"],
    ["a \\[1\\] and \\*", "a [1] and *"],
    ["\\(x **y**", "(x <b>y</b>"],
    ["$$\na *b*\n\n+ c\n- d\n$$\n*e*", "$$/a *b*//+ c/- d/$$<em>e</em>"],
    ["\\[\na\n=\n+ b \\]\n\nend", "\\[/a/=/+ b \\]end"],
    ["`\\(`*a*`\\)`", "<code>\\(</code><em>a</em><code>\\)</code>"],
  ])("%s: %s", (text, picture) => {
    expect(shown(text)).toBe(picture);
  });
});

describe("inline markdown", () => {
  // Most are examples of https://spec.commonmark.org/0.31.2/
  test.each([
    ["*foo bar*", "<em>foo bar</em>"],
    ["a * foo bar*", "a * foo bar*"],
    ["a*b*c", "a<em>b</em>c"],
    // Unlike there: a product.
    ["5*6*78", "5*6*78"],
    ["foo-_(bar)_", "foo-<em>(bar)</em>"],
    ["_(bar", "_(bar"],
    ["__foo, __bar__, baz__", "<b>foo, <b>bar</b>, baz</b>"],
    ["*foo**bar**baz*", "<em>foo<b>bar</b>baz</em>"],
    ["*foo**bar*", "<em>foo**bar</em>"],
    ["***foo** bar*", "<em><b>foo</b> bar</em>"],
    ["foo***bar***baz", "foo<em><b>bar</b></em>baz"],
    ["foo******bar*********baz", "foo<b><b><b>bar</b></b></b>***baz"],
    ["****foo*", "***<em>foo</em>"],
    ["*foo _bar* baz_", "<em>foo _bar</em> baz_"],
    ["**foo*bar**", "<b>foo*bar</b>"],
    ["*[bar*](/url)", "*<a /url>bar*</a>"],
    ["*a `*`*", "<em>a <code>*</code></em>"],
    ["**a<https://foo.bar/?q=**>", "**a<a https://foo.bar/?q=**>https://foo.bar/?q=**</a>"],
    ["*<img src='foo' title=\"*\"/>", "*<img src='foo' title=\"*\"/>"],
    ["[link](</my uri> 'title')", "<a /my uri>link</a>"],
    ["[link](foo(and(bar)))", "<a foo(and(bar))>link</a>"],
    ["[link](/my uri)", "[link](/my uri)"],
    ["[foo [bar](/uri)](/uri)", "[foo <a /uri>bar</a>](/uri)"],
    ["[![moon](m.jpg)](/uri)", "<a /uri><img m.jpg></a>"],
    ["[Foo]\n\n[foo]: /url 'title'", "<a /url>Foo</a>"],
    ["[text][Foo] [foo][] [bar]\n\n[foo]: /url", "<a /url>text</a> <a /url>foo</a> [bar]"],
    ["``foo ` bar``", "<code>foo ` bar</code>"],
    ["` `` `", "<code>``</code>"],
    ["`foo``bar", "`foo``bar"],
    ["\\*a\\* \\x", "*a* \\x"],
    ["~~one~~ ~two~ ~~~three~~~", "<del>one</del> <del>two</del> ~~~three~~~"],
    ["line\nline  \nline\\\nline", "line/line  /line/line"],
    [
      "see https://a.example/x_y_z?q=(1), (www.b.example) or foo_bar@c.example.",
      "see <a https://a.example/x_y_z?q=(1)>https://a.example/x_y_z?q=(1)</a>, (<a http://www.b.example>www.b.example</a>) or <a mailto:foo_bar@c.example>foo_bar@c.example</a>.",
    ],
    ["**https://a.example/**。", "<b><a https://a.example/>https://a.example/</a></b>。"],
    ["[https://a.example](https://a.example)", "<a https://a.example>https://a.example</a>"],
    ["[**www.a.example**](https://a.example)", "<a https://a.example><b>www.a.example</b></a>"],
  ])("%s", (text, picture) => {
    expect(shown(text)).toBe(picture);
  });

  test("nothing of a text is lost", () => {
    const piece: fc.Arbitrary<string> = fc.constantFrom(
      ...Array.from("ab *_~`[]()!<>\\$@.\n「é"),
      "**",
      "](",
      "$$",
      "\\(",
      "\\)",
      "http://a",
      "<a b='",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        const tokens = inlineTokens(text, { a: { href: "/a" } });
        expect(tokens.map(({ raw }) => raw).join("")).toBe(text);
      }),
      { numRuns: 2_000, examples: [[["*[****!*"]]] },
    );
  });

  test("lists and quotes in each other without end are shown, too", () => {
    for (const text of ["> ".repeat(50_000), "- ".repeat(50_000), "> - ".repeat(20_000)])
      expect(tokensOf(text).length).toBeGreaterThan(0);
  });
});

/** How many blocks of code it takes to read a text: the same on every machine. */
async function stepsOf(texts: readonly string[]): Promise<number[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  try {
    const steps: number[] = [];
    for (const text of texts) {
      await session.post("Profiler.takePreciseCoverage");
      tokensOf(text);
      const { result } = await session.post("Profiler.takePreciseCoverage");
      const counts = result
        .filter(({ url }) => /\/widget\/view\/|\/marked\./.test(url))
        .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)));
      steps.push(counts.reduce((sum, count) => sum + count, 0));
    }
    return steps;
  } finally {
    await session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
  }
}

test.each<[string, (chars: number) => string]>([
  ["a word", (n) => "a".repeat(n)],
  ["a word with lines under", (n) => "word_".repeat(n / 5)],
  ["an address that never comes", (n) => `${"a".repeat(n)}@`],
  ["spaces", (n) => `a${" ".repeat(n)}b`],
  ...[
    "a_**",
    "a*_",
    "a~_",
    "a**b",
    "*a ",
    "*a_ ",
    "[",
    "[a](",
    "![",
    "](",
    "<a b='",
    "`a",
    "\\(",
    "$a ",
    "a.b@",
    "> ",
  ].map((part): [string, (chars: number) => string] => [part, (n) => part.repeat(n / part.length)]),
  ["pairs in each other", (n) => "*a ".repeat(n / 6) + "a* ".repeat(n / 6)],
  ["images around links", (n) => "![".repeat(n / 4) + "[a](b)".repeat(n / 12)],
  ["brackets in each other, with a definition", (n) => `[x]: y\n\n${"[".repeat(n / 2)}${"]".repeat(n / 2)}`],
  [
    "ever longer runs of backticks",
    (n) => Array.from({ length: Math.sqrt(n) }, (_, k) => "`".repeat(k)).join("a"),
  ],
])("G18: four times the text is four times the work: %s", async (_name, text) => {
  const ratios: number[] = [];
  // The engine loses some counts, now and then, when it throws away code.
  for (let time = 0; time < 3; time++) {
    const [, small = 0, large = 0] = await stepsOf([text(500), text(2_000), text(8_000)]);
    expect(small).toBeGreaterThan(0);
    ratios.push(large / small);
  }
  expect(Math.min(...ratios)).toBeLessThan(4.6);
});
