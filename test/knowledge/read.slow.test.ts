// For src/knowledge/read/
import { describe, expect, test } from "vitest";
import { readDocx } from "../../src/knowledge/read/docx.ts";
import { readHtml } from "../../src/knowledge/read/html.ts";
import { readMarkdown } from "../../src/knowledge/read/markdown.ts";
import { UnreadablePage } from "../../src/knowledge/read/page.ts";
import { readPdf } from "../../src/knowledge/read/pdf.ts";
import { readText } from "../../src/knowledge/read/text.ts";
import { docxOf, pdfOf } from "./documents.ts";

describe("Markdown", () => {
  test("is read by its headings, without its marks, tables and lists line by line", () => {
    const page = readMarkdown(`---
draft: true
---
# Delivery *rules*

We send **every** day. See [the map](https://x.example/map).

## Costs

| to | cost |
|---|---|
| Spain | \`4.90 €\` |

### Over 50 €

- free
  - also to islands
> Since 2024.

<script>alert(1)</script>

## Where not

\`\`\`
no boxes
\`\`\`
`);
    expect(page).toEqual({
      title: "Delivery rules",
      sections: [
        { headings: [], text: "We send every day. See the map." },
        { headings: ["Costs"], text: "to | cost\nSpain | 4.90 €" },
        { headings: ["Costs", "Over 50 €"], text: "free\nalso to islands\nSince 2024." },
        { headings: ["Where not"], text: "no boxes" },
      ],
    });
  });

  test("may be empty, or have no heading", () => {
    expect(readMarkdown("")).toEqual({ title: "", sections: [] });
    expect(readMarkdown("Just text.")).toEqual({
      title: "",
      sections: [{ headings: [], text: "Just text." }],
    });
  });
});

describe("HTML", () => {
  const long =
    "We send every parcel on the day on which it was paid, as long as that is before noon. ".repeat(4);

  test("is its main text by its headings, without what stands around it", () => {
    const page = readHtml(
      `<!doctype html><html><head><title>Delivery – Shop</title><style>p{}</style></head><body>
        <header><a href="/">Shop</a></header><nav><ul><li><a href="/cart">Cart</a></li><li>Log in</li></ul></nav>
        <main><article><h1>Delivery</h1><p>${long}</p><h2>Costs</h2><p>4.90 €<br>to Spain. ${long}</p>
        <table><tr><th>to</th><th>cost</th></tr><tr><td>Spain</td><td>5 €</td></tr></table>
        <ul><li>free over <b>50</b> €</li></ul></article></main>
        <footer>© 2026 Imprint</footer><script>track("secret")</script></body></html>`,
      "https://shop.example/delivery",
    );
    expect(page.title).toBe("Delivery – Shop");
    const texts = page.sections.map(({ headings, text }) => `${headings.join("/")}: ${text}`).join("\n");
    expect(texts).toContain("Costs: 4.90 €\nto Spain.");
    expect(texts).toContain("to | cost\nSpain | 5 €");
    expect(texts).toContain("free over 50 €");
    for (const around of ["Cart", "Log in", "Imprint", "track", "secret"])
      expect(texts).not.toContain(around);
  });

  test("without an article is its whole body, without navigation and scripts", () => {
    const page = readHtml(
      "<title>Hours</title><nav>Home</nav><p>Mon–Fri</p><div>9 to 5</div>",
      "https://x.example/",
    );
    expect(page).toMatchObject({ title: "Hours", sections: [{ headings: [], text: "Mon–Fri\n9 to 5" }] });
  });

  test.each([
    "",
    "<",
    "<html>",
    "<!-- x",
    "<p>a<p>b<table><tr><td>",
    "\u0000<body>\ud800</body>",
    "<svg><title>no</title></svg>",
    "<html>no body",
    "<body>no html",
  ])("that is broken is read all the same: %j", (html) => {
    expect(readHtml(html, "https://x.example/").sections).toBeInstanceOf(Array);
  });
});

test("plain text is its paragraphs", () => {
  expect(readText("One\nline.\n\n  Two. \r\n\r\n\n")).toEqual({
    title: "",
    sections: [{ headings: [], text: "One line.\nTwo." }],
  });
});

test("a PDF is its text page by page, with its title", async () => {
  expect(await readPdf(pdfOf("Returns within 30 days", "Our rules"))).toEqual({
    title: "Our rules",
    sections: [{ headings: ["Page 1"], text: "Returns within 30 days" }],
  });
});

test("a Word document is read by its headings", async () => {
  const heading = (level: number, text: string) =>
    `<w:p><w:pPr><w:pStyle w:val="Heading${level}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const bytes = await docxOf(
    heading(1, "Rules") + paragraph("Be kind.") + heading(2, "Returns") + paragraph("30 days."),
  );
  expect(await readDocx(bytes)).toEqual({
    title: "Rules",
    sections: [
      { headings: [], text: "Be kind." },
      { headings: ["Returns"], text: "30 days." },
    ],
  });
});

test("what is no such file is said to be none", async () => {
  const other = new TextEncoder().encode("<html>Not found</html>");
  await expect(readPdf(other)).rejects.toThrow(UnreadablePage);
  await expect(readDocx(other)).rejects.toThrow(UnreadablePage);
});
