// For src/knowledge/fetch/, src/knowledge/read/sitemap.ts
import { describe, expect, onTestFinished, test } from "vitest";
import { crawl } from "../../src/knowledge/fetch/crawl.ts";
import type { Crawled, KnownPage, WebSource } from "../../src/knowledge/fetch/crawl.ts";
import { createPageFetch } from "../../src/knowledge/fetch/page-fetch.ts";
import { fitsPattern, isWanted } from "../../src/knowledge/fetch/patterns.ts";
import { readPage } from "../../src/knowledge/read/kinds.ts";
import { html, openSite, status, text } from "./site.ts";

/** A site, and its reader. */
async function openReadSite(pages: Parameters<typeof openSite>[0]) {
  const { origin, asked } = await openSite(pages);
  const fetching = createPageFetch({ allowsPrivate: true });
  onTestFinished(() => fetching.close());
  const known = new Map<string, KnownPage>();
  async function read(source: WebSource): Promise<Record<string, string>> {
    asked.length = 0;
    const told: Record<string, string> = {};
    const crawling = {
      fetching,
      reader: { read: readPage },
      known: (url: string) => known.get(url),
      pause: async () => {},
      signal: new AbortController().signal,
    };
    for await (const one of crawl(source, crawling)) {
      if (one.type === "read") known.set(one.url, one.known);
      told[one.url.slice(origin.length)] = sayOf(one);
    }
    return told;
  }
  return { origin, asked, read, pages };
}

function sayOf(one: Crawled): string {
  if (one.type === "read") return one.page.sections[0]?.text.split("\n")[0] ?? "";
  return one.type === "unchanged" ? one.type : `${one.type}: ${one.why}`;
}

describe("a site that is read from a page on", () => {
  test("is what that page leads to below its folder, as deep as wanted, each page once", async () => {
    const { origin, read } = await openReadSite({
      "/help/": html(
        '<p>Help</p><a href="one.html#top">1</a><a href="/help/one.html">1</a><a href="/other/">no</a>',
      ),
      "/help/one.html": html(
        '<p>One</p><a href="two.html">2</a><a href="mailto:a@b.example">m</a><a href="http://[">x</a>',
      ),
      "/help/two.html": html('<p>Two</p><a href="/help/">back</a><a href="three.html">3</a>'),
      "/help/three.html": html("<p>Three</p>"),
      "/other/": html("<p>Other</p>"),
    });
    expect(await read({ url: `${origin}/help/`, depth: 2 })).toEqual({
      "/help/": "Help",
      "/help/one.html": "One",
      "/help/two.html": "Two",
    });
    expect(Object.keys(await read({ url: `${origin}/help/`, depth: 0 }))).toEqual(["/help/"]);
    const excluded = { url: `${origin}/help/`, exclude: ["/help/t*"] };
    expect(Object.keys(await read(excluded))).toEqual(["/help/", "/help/one.html"]);
  });

  test("is asked whether a page has changed, and an unchanged one is not read again but followed", async () => {
    const site = await openReadSite({
      "/": (request, response) => {
        if (request.headers["if-none-match"] === '"v1"') return void response.writeHead(304).end();
        response.setHeader("etag", '"v1"').setHeader("content-type", "text/html");
        response.end('<html><body><p>Start</p><a href="/a">a</a></body></html>');
      },
      "/a": html("<p>First</p>"),
    });
    const source = { url: `${site.origin}/` };
    expect(await site.read(source)).toEqual({ "/": "Start", "/a": "First" });
    expect(await site.read(source)).toEqual({ "/": "unchanged", "/a": "unchanged" });
    site.pages["/a"] = html("<p>Second</p>");
    expect(await site.read(source)).toEqual({ "/": "unchanged", "/a": "Second" });
    site.pages["/a"] = status(410);
    expect((await site.read(source))["/a"]).toBe("gone: it is not there: status 410");
    site.pages["/a"] = status(503);
    expect((await site.read(source))["/a"]).toBe("failed: status 503");
  });

  test("keeps to robots.txt and to what a page says of itself", async () => {
    const { origin, read, asked } = await openReadSite({
      "/robots.txt": text(
        "User-agent: *\nDisallow: /secret\n\nUser-agent: ChatAgentService\nDisallow: /private/\n",
      ),
      "/": html(
        '<p>Start</p><a href="/secret">s</a><a href="/private/a">p</a><a href="/draft">d</a><a rel="nofollow" href="/no">n</a>',
      ),
      "/secret": html("<p>For us</p>"),
      "/draft": html('<meta name="Robots" content="noindex, nofollow"><p>Draft</p><a href="/behind">b</a>'),
      "/behind": html("<p>Behind</p>"),
    });
    expect(await read({ url: `${origin}/` })).toEqual({
      "/": "Start",
      "/secret": "For us",
      "/private/a": "gone: robots.txt forbids it",
      "/draft": "gone: it wants to be in no index",
    });
    expect(asked).not.toContain("/private/a");
  });

  test("whose first page is away, or that answers nothing any more, is not read: all that it had stays", async () => {
    const { origin, read, pages } = await openReadSite({ "/": status(404) });
    await expect(read({ url: `${origin}/` })).rejects.toThrow(
      "its first page cannot be read: it is not there: status 404",
    );
    const links = Array.from({ length: 30 }, (_, nth) => `<a href="/${nth}">x</a>`);
    pages["/"] = html(links.join(""));
    for (let nth = 0; nth < 30; nth += 1) pages[`/${nth}`] = status(nth === 5 ? 404 : 503);
    await expect(read({ url: `${origin}/` })).rejects.toThrow("20 pages in a row cannot be read: status 503");
  });

  test("is asked as slowly as it wants", async () => {
    const { origin } = await openSite({
      "/robots.txt": text("User-agent: *\nCrawl-delay: 2\n"),
      "/": html("<p>Start</p>"),
    });
    const fetching = createPageFetch({ allowsPrivate: true });
    onTestFinished(() => fetching.close());
    const pauses: number[] = [];
    const crawling = {
      fetching,
      reader: { read: readPage },
      known: () => undefined,
      pause: async (leastMs: number) => void pauses.push(leastMs),
      signal: new AbortController().signal,
    };
    for await (const _ of crawl({ url: `${origin}/` }, crawling));
    expect(pauses).toEqual([2_000]);
  });

  test("whose robots.txt cannot be read now is not read now", async () => {
    const { origin, read } = await openReadSite({ "/robots.txt": status(503), "/": html("<p>Start</p>") });
    await expect(read({ url: `${origin}/` })).rejects.toThrow("its robots.txt cannot be read: status 503");
  });

  test("goes on where a page breaks off, leads away, runs in circles, or is of no kind that is read", async () => {
    const { origin, read } = await openReadSite({
      "/": html(
        ["cut", "away", "circle", "moved", "picture", "rules.md"]
          .map((to) => `<a href="/${to}">${to}</a>`)
          .join(" "),
      ),
      "/cut": (_request, response) => {
        response.writeHead(200, { "content-type": "text/html", "content-length": "1000" }).write("<p>Ha");
        setTimeout(() => response.destroy(), 20);
      },
      "/away": (_request, response) =>
        void response.writeHead(302, { location: "https://other.example/" }).end(),
      "/circle": (_request, response) => void response.writeHead(302, { location: "/circle" }).end(),
      "/moved": (_request, response) => void response.writeHead(301, { location: "/rules.md" }).end(),
      "/picture": text("PNG", "image/png"),
      "/rules.md": text("# Rules\n\nBe kind."),
    });
    expect(await read({ url: `${origin}/` })).toMatchObject({
      "/cut": expect.stringMatching(/^failed: /) as string,
      "/away": "failed: it leads to another site: https://other.example",
      "/circle": "failed: it leads from one address to the next without an end",
      "/moved": "Be kind.",
      "/picture": "gone: it cannot be read: image/png",
      "/rules.md": "Be kind.",
    });
  });
});

describe("a sitemap", () => {
  const urlset = (...paths: string[]) =>
    `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths.map((path) => `<url><loc> ${path} </loc></url>`).join("")}</urlset>`;

  test("gives the pages of the site, through an index and as a list", async () => {
    const site = await openReadSite({ "/a": html("<p>A</p>"), "/b": html('<p>B</p><a href="/c">c</a>') });
    const { origin, pages, read } = site;
    pages["/sitemap.xml"] = text(
      `<sitemapindex><sitemap><loc>${origin}/one.xml</loc></sitemap><sitemap><loc>${origin}/sitemap.xml</loc></sitemap><sitemap><loc>${origin}/two.txt</loc></sitemap></sitemapindex>`,
      "application/xml",
    );
    pages["/one.xml"] = text(urlset(`${origin}/a`, "https://other.example/x", "ftp://x"), "application/xml");
    pages["/two.txt"] = text(`${origin}/b\n${origin}/a\n`);
    expect(await read({ sitemap: `${origin}/sitemap.xml` })).toEqual({ "/a": "A", "/b": "B" });
  });

  test("that is not there, or is none, ends the reading before it begins", async () => {
    const { origin, read } = await openReadSite({
      "/page": html("<p>Not found</p>"),
      "/empty.xml": text(urlset(), "application/xml"),
    });
    await expect(read({ sitemap: `${origin}/none.xml` })).rejects.toThrow("cannot be read: status 404");
    await expect(read({ sitemap: `${origin}/page` })).rejects.toThrow("it is no sitemap");
    // Perhaps it is being written: what it had stays.
    await expect(read({ sitemap: `${origin}/empty.xml` })).rejects.toThrow("its sitemap names no page");
  });
});

test("a private address is not read unless it may be", async () => {
  const closed = createPageFetch({ allowsPrivate: false });
  onTestFinished(() => closed.close());
  await expect(closed.get("http://127.0.0.1:1/")).rejects.toThrow("its address is not public");
  await expect(closed.get("http://localhost:1/")).rejects.toThrow("its address is not public");
});

test("of a page no more is read than its bound", async () => {
  const { origin, read } = await openReadSite({
    "/": (_request, response) => {
      response.setHeader("content-type", "text/plain");
      const piece = "x".repeat(1_048_576);
      const more = () => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    },
  });
  await expect(read({ url: `${origin}/` })).rejects.toThrow(
    "its first page cannot be read: The answer is longer than 16777216 bytes",
  );
});

test.each([
  ["/help/*", "/help/a/b", true],
  ["/help/*", "/helping", false],
  ["*.pdf", "/a/b.pdf", true],
  ["*.pdf", "/a/b.pdf/c", false],
  ["/a*b*c", "/axbxc", true],
  ["/a*b*c", "/acb", false],
  ["/a*a", "/a", false],
  ["/exact", "/exact", true],
  ["/exact", "/exact/", false],
  ["*", "/", true],
])("pattern %s of %s: %s", (pattern, path, fits) => {
  expect(fitsPattern(path, pattern)).toBe(fits);
});

test("exclude wins over include", () => {
  expect(isWanted("/help/a", { include: ["/help/*"], exclude: ["*/a"] })).toBe(false);
  expect(isWanted("/help/b", { include: ["/help/*"], exclude: ["*/a"] })).toBe(true);
  expect(isWanted("/other", { include: ["/help/*"] })).toBe(false);
  expect(isWanted("/other", {})).toBe(true);
});
