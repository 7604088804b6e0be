import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";

/** src/client/REFERENCE.md: what the package's declarations say of themselves. `npm run reference` writes it. */

const root = fileURLToPath(new URL("../../..", import.meta.url));
const PARTS = [
  { name: "chat-agent-service/client", file: "src/client/client.d.ts" },
  { name: "chat-agent-service/element", file: "src/widget/element.d.ts" },
];

export const REFERENCE = `${root}src/client/REFERENCE.md`;

export function referenceOfPackage(): string {
  const parts = PARTS.map(({ name, file }) => partOf(name, readFileSync(root + file, "utf8")));
  const links = PARTS.map(({ name }) => `[${name}](#${anchorOf(name)})`).join(", ");
  return `# The package's types\n\nMade of the declarations by \`npm run reference\`: ${links}.\n\n${parts.join("\n\n")}\n`;
}

/** Where something stands in a text. */
interface Span {
  start: number;
  end: number;
}

/** A declaration file as markdown: each export with its comment, interfaces and classes with their members. */
export function partOf(name: string, source: string): string {
  const { program, comments, errors } = parseSync("declarations.d.ts", source, { lang: "dts" });
  if (errors.length > 0) throw new Error(`Cannot read the types of ${name}: ${errors[0]?.message}`);
  const docs = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));

  /** The comment right before it; none is an empty text. */
  function docOf({ start }: Span): string {
    const doc = docs.findLast((each) => each.end <= start);
    return doc && source.slice(doc.end, start).trim() === "" ? textOf(doc.value) : "";
  }

  function section(
    title: string,
    at: Span,
    shown = `\`\`\`ts\n${source.slice(at.start, at.end)}\n\`\`\``,
  ): string {
    return [`### ${title}`, docOf(at), shown].filter((text) => text !== "").join("\n\n");
  }

  function tableOf(members: readonly Span[]): string {
    const rows = members.map(
      (member) => `| \`${inCell(source.slice(member.start, member.end))}\` | ${inCell(docOf(member))} |`,
    );
    return ["| | |", "|---|---|", ...rows].join("\n");
  }

  const sections = program.body.flatMap((statement) => {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : null;
    if (declaration?.type === "TSInterfaceDeclaration" || declaration?.type === "ClassDeclaration") {
      const { id, superClass, extends: above } = { superClass: null, extends: [], ...declaration };
      const bases = [superClass, ...above].flatMap((base) =>
        base ? [source.slice(base.start, base.end)] : [],
      );
      const extended = bases.length > 0 ? ` extends \`${bases.join("`, `")}\`` : "";
      return [section(`\`${id?.name}\`${extended}`, statement, tableOf(declaration.body.body))];
    }
    if (declaration?.type === "TSTypeAliasDeclaration")
      return [section(`\`${declaration.id.name}\``, statement)];
    if (declaration?.type === "TSDeclareFunction")
      return [section(`\`${declaration.id?.name}()\``, statement)];
    return [];
  });
  const intro = textOf(docs.find(({ value }) => value.includes("@packageDocumentation"))?.value ?? "");
  return [`## ${name}`, intro, ...sections].join("\n\n");
}

/** A doc comment's words, without its stars and tags. */
function textOf(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*+ ?/, "").trimEnd());
  return lines
    .filter((line) => !line.startsWith("@"))
    .join("\n")
    .trim();
}

/** In one line of a table. */
function inCell(text: string): string {
  return text.replace(/\s+/g, " ").replace(/;$/, "").replaceAll("|", "\\|");
}

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/[^a-z0-9 -]/g, "");
}
