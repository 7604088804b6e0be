/** What was read of a page or a file: its main text, by its headings. */
export interface ReadPage {
  /** Empty: it has none. */
  title: string;
  sections: Section[];
  /** Only of HTML and sitemaps: the addresses that it leads to, without their fragments. */
  links?: string[];
  /** The links are further sitemaps. */
  isSitemapIndex?: true;
  /** Its owner wants it in no index (`noindex`). */
  isHidden?: true;
}

export interface Section {
  /** The headings above the text, the outermost first; without the title. */
  headings: string[];
  /** Paragraphs, list items and rows of tables, separated by line breaks; never empty. */
  text: string;
}

/** A page cannot be read; the message is for its owner. */
export class UnreadablePage extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "UnreadablePage";
  }
}

/** Collects text below headings, as they come. */
export function createOutline() {
  const sections: Section[] = [];
  const open: { level: number; heading: string }[] = [];
  let lines: string[] = [];

  function close(): void {
    const text = lines.join("\n").trim();
    if (text !== "") sections.push({ headings: open.map(({ heading }) => heading), text });
    lines = [];
  }

  return {
    /** `level`: 1 is the outermost. */
    heading(level: number, text: string): void {
      close();
      while ((open.at(-1)?.level ?? 0) >= level) open.pop();
      const heading = oneLine(text);
      if (heading !== "") open.push({ level, heading });
    },

    /** Something that stands by itself: a paragraph, an item, a row. */
    block(text: string): void {
      const line = oneLine(text);
      if (line !== "") lines.push(line);
    },

    sections(): Section[] {
      close();
      return sections;
    },
  };
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

/** What stands between empty lines. */
export function paragraphsOf(text: string): string[] {
  const paragraphs = [""];
  for (const line of text.split("\n")) {
    if (line.trim() === "") paragraphs.push("");
    else paragraphs.push(`${paragraphs.pop() ?? ""}${line}\n`);
  }
  return paragraphs;
}
