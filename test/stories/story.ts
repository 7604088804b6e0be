/**
 * A story as a text file: steps in the product's words, and below each what it was answered.
 *
 *     # What the story shows.
 *
 *     Ann says "Is the kettle in stock?"
 *     model calls look_up {"item":"kettle"}
 *     ----
 *     step look_up running
 *     tool_call look_up {"item":"kettle"}
 */
export interface Step {
  /** What somebody does. */
  does: string;
  /** What the model answers meanwhile, one turn a line, and what others do while it waits. */
  meanwhile: string[];
  /** The lines that were answered. */
  answered: string[];
}

export interface Story {
  /** The comment that the file begins with. */
  about: string;
  steps: Step[];
}

const RULE = "----";

export function readStory(text: string): Story {
  const blocks = text.trim().split(/\n{2,}/);
  const about = (blocks.shift() ?? "").replaceAll(/^# ?/gm, "");
  const steps = blocks.map((block) => {
    const [does = "", ...rest] = block.split("\n");
    const rule = rest.indexOf(RULE);
    const end = rule === -1 ? rest.length : rule;
    return { does, meanwhile: rest.slice(0, end), answered: rest.slice(end + 1) };
  });
  return { about, steps };
}

export function writeStory({ about, steps }: Story): string {
  const told = steps.map(({ does, meanwhile, answered }) =>
    [does, ...meanwhile, ...(answered.length > 0 ? [RULE, ...answered] : [])].join("\n"),
  );
  return `${[about.replaceAll(/^/gm, "# "), ...told].join("\n\n")}\n`;
}
