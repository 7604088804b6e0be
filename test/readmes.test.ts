// For README.md, src/cli/program.ts, src/config/
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** What people read: links lead somewhere, tables tell what the code takes. Their examples: readmes.process.test.ts. */
const root = fileURLToPath(new URL("..", import.meta.url));

const pages = [
  "README.md",
  ".github/CONTRIBUTING.md",
  ".github/SECURITY.md",
  ...["src", "machines", "test", "bench", ".github/decisions"].flatMap(pagesBelow),
];

function pagesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((name) => name.endsWith("README.md") && !name.includes("node_modules") && !name.includes("/."));
}

function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** The anchors of a page's headings, as code hosts make them. */
function anchorsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function brokenLinks(page: string): string[] {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : relative(root, join(root, dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
}

test.each(pages)("%s links what is there", (page) => {
  expect(brokenLinks(page)).toEqual([]);
});

/** Who takes the widget gives the agent the page's tools: this is no fine print. */
test.each(["README.md", "src/widget/README.md"])(
  "the first paragraph of %s says which of a page's tools run unasked",
  (page) => {
    const withoutCode = textOf(page).replaceAll(/^```.*?^```/gms, "");
    const [, first = ""] = withoutCode.split(/\n{2,}/);
    expect(first).toMatch(/`destructiveHint`\s+or\s+`consequentialHint`\s+asks?\s+the\s+visitor\s+first/);
    expect(first).toMatch(/unasked/);
  },
);

test("the tables of test/README.md name tests that are there", () => {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const there = new Set(
    files.map((file) =>
      file.replace(/(?:\.(?:slow|process|redis|browser|stores|process-stores))?(?:\.test)?\.ts$/, ""),
    ),
  );
  const [, ...sections] = textOf("test/README.md").split("## Attackers");
  const rows = sections
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("|"));
  const named = rows.flatMap((row) =>
    [...row.matchAll(/(?<![\w/.([`-])[a-z][\w-]*(?:\/[\w*-]+)+/g)].map(([path]) => path),
  );
  expect(named.length).toBeGreaterThan(200);
  const beginnings = (path: string) => [...there].some((file) => file.startsWith(path.slice(0, -1)));
  expect(named.filter((path) => !(path.endsWith("*") ? beginnings(path) : there.has(path)))).toEqual([]);
});

test("the operator's table lists every variable that is read, and its default", () => {
  const sources = readdirSync(`${root}/src/config`).map((file) => `src/config/${file}`);
  const schema = ["src/config.ts", ...sources]
    .flatMap((file) => [
      ...textOf(file).matchAll(/const \w*[vV]ariables = (?:z\.object\()?\{\n(.*?)^\}\)?;/gms),
    ])
    .map(([, fields = ""]) => fields)
    .join("");
  const read = [...schema.matchAll(/^ {2}([A-Z_]+):(.*?)(?=^ {2}[A-Z]|(?![^]))/gms)];
  expect(read.length).toBeGreaterThan(30);

  const rows = textOf("src/cli/README.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const missing = read.filter(([, name = "", takes = ""]) => {
    const row = rows.find((line) => (line.split("|")[1] ?? "").includes(`\`${name}\``));
    const number = /default\(([\d_]+)\)/.exec(takes)?.[1]?.replaceAll("_", "");
    return row === undefined || (number !== undefined && !(row.split("|")[2] ?? "").includes(number));
  });
  expect(missing.map(([, name]) => name)).toEqual([]);
});
