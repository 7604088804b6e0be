import { at } from "./command/ask.ts";
import { parseSlug } from "./channels/field-options.ts";
import { command } from "./command/command.ts";
import type { Family } from "./command/command.ts";
import { printJson } from "./command/print.ts";
import { CannotDo } from "./command/terminal.ts";

const SLUG = ["<slug>", "the channel", parseSlug] as const;

/** `chat-agent messengers`: a channel's account at its platform. */
export const messengers: Family = {
  name: "messengers",
  does: "check a channel's messenger",
  commands: [
    command({
      name: "check",
      does: "ask the platform whether the account works, and say what is wrong",
      takes: [SLUG],
      json: "print a JSON object",
      asks: ({ api }, slug) =>
        api.post<{ type: string; problems: string[] }>(at`/channels/${slug}/messenger/check`, {}),
      prints({ type, problems }, { terminal, options }, slug) {
        if (options.json) printJson(terminal, { type, problems });
        else if (problems.length === 0) terminal.out(`${type} takes the account of channel ${slug}\n`);
        if (problems.length > 0) throw new CannotDo(problems.join("\n"));
      },
      refused: ({ message }, _call, slug) =>
        message === "Unknown messenger" ? `Cannot check: channel ${slug} has no messenger` : undefined,
    }),
  ],
};
