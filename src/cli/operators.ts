import { InvalidArgumentError, Option } from "commander";
import { slugSchema } from "../domain/channels/channel-fields.ts";
import { operatorNameFault } from "../domain/people/operator-name.ts";
import type { Operator } from "../domain/people/operator.ts";
import { at } from "./command/ask.ts";
import { command } from "./command/command.ts";
import type { Call, Family } from "./command/command.ts";
import { tellUnreadable } from "./command/unreadable.ts";
import { printFields, printJson, printTable } from "./command/print.ts";

type Shown = Pick<Operator, "name" | "displayName" | "role" | "channels">;
type WithKey = Shown & { key: string };

/** `chat-agent operators`: the people and programs who look after the service, and their keys. */
export const operators: Family = {
  name: "operators",
  does: "list, add and remove who may look after the service",
  commands: [
    command({
      name: "add",
      does: "add an operator; prints its key, this once",
      takes: [["<name>", "of the person or program", parseName]],
      options: [
        new Option("--role <role>", "what it may do")
          .choices(["admin", "agent", "auditor"])
          .makeOptionMandatory(),
        ["--display-name <text>", "what visitors call the person; without it: by name"],
        ["--channel <slug>", "limits it to this channel; repeatable", collectSlug],
      ],
      json: "print JSON",
      asks: ({ api, options }: Call<{ role: string; displayName?: string; channel?: string[] }>, name) => {
        const { role, displayName, channel = null } = options;
        const shown = displayName === undefined ? {} : { displayName };
        return api.post<WithKey>("/operators", { name, ...shown, role, channels: channel });
      },
      prints: printOperator,
      refused({ status, message }, _, name) {
        if (status !== 409 && status !== 422) return undefined;
        const why = message
          .replace("There is an operator of that name", "there is one of that name")
          .replace(/^There is (.+), which looks like that$/, "there is $1, which looks like it")
          .replace(/^channels: /, "");
        return `Cannot add operator ${name}: ${why}`;
      },
    }),
    command({
      name: "list",
      does: "all operators",
      json: "print a JSON array",
      async asks({ api, terminal }) {
        await tellUnreadable(api, terminal, "operator");
        return api.all<Shown>("/operators");
      },
      prints(found, { terminal, options }) {
        if (options.json) return printJson(terminal, found);
        const rows = found.map(({ name, role, channels }) => [name, role, channels?.join(" ") ?? "all"]);
        printTable(terminal, ["NAME", "ROLE", "CHANNELS"], rows, "There are no operators yet");
      },
    }),
    command({
      name: "remove",
      does: "take an operator away; its key ends at once",
      takes: [["<name>", ""]],
      asks: ({ api }, name) => api.delete(at`/operators/${name}`),
      prints: (_, { terminal }, name) => terminal.out(`Removed operator ${name}\n`),
    }),
    command({
      name: "rotate",
      does: "make an operator's key anew and print it; the old one ends at once",
      takes: [["<name>", ""]],
      json: "print JSON",
      asks: ({ api }, name) => api.post<WithKey>(at`/operators/${name}/rotate`),
      prints: printOperator,
    }),
  ],
};

function printOperator(operator: WithKey, { terminal, options }: Call): void {
  if (options.json) printJson(terminal, operator);
  else printFields(terminal, { ...operator, channels: operator.channels?.join(" ") ?? "all" });
}

function parseName(text: string): string {
  const fault = operatorNameFault(text);
  if (fault !== null) throw new InvalidArgumentError(`It ${fault}.`);
  return text;
}

function collectSlug(text: string, before: string[] = []): string[] {
  if (!slugSchema.safeParse(text).success) throw new InvalidArgumentError("It takes 1 to 64 of a-z 0-9 - _.");
  return [...new Set([...before, text])];
}
