import { isRecord } from "../../is-record.ts";
import { cutText } from "../../../machines/line.ts";
import type { Approver } from "../../../machines/run.ts";
import type { Catalog } from "../../domain/threads/message.ts";
import type { ToolSettings } from "../../domain/channels/channel.ts";
import type { PageTool } from "../../domain/channels/page-tool.ts";
import type { OfferedTool } from "../../model.ts";
import { PROGRESS } from "./arguments.ts";
import { freeName } from "./names.ts";
import { PickedSchema } from "./picked-schema.ts";
import type { Schema } from "./picked-schema.ts";

/** The tool by which the model says that it cannot do what was asked. */
export const TASK_FAILED = "task_failed";

/** The tool by which the model asks for a person. */
export const HAND_OFF = "hand_off";

/** A tool of one of the channel's MCP servers. */
export interface ServerTool {
  /** The server's name in the channel's settings. */
  server: string;
  name: string;
  title: string | null;
  description: string;
  /** As the server declares it: shown to the model. */
  inputSchema: Schema;
  /** What arguments are checked against. */
  picked: PickedSchema;
  /** Declared read-only or idempotent: may be called again after a crash. */
  repeatable: boolean;
  /** Declared read-only: may be called side by side with others of its kind. */
  readOnly: boolean;
  /** Declared destructive: offered only if the channel names it. */
  destructive: boolean;
  /** Who must approve each call; absent: nobody. */
  confirm?: Approver;
}

/** A tool as it is offered in one turn, and the tool that a call of it means. */
export interface Offer {
  kind: "page" | "server";
  /** The tool's own name. */
  tool: string;
  /** null on a page tool. */
  server: string | null;
  /** Shown to the visitor if the model gives no progress text. */
  fallbackProgress: string;
  /** What arguments are checked against. */
  picked: PickedSchema;
  /** True: `_progress` is an argument of the tool itself. */
  ownsProgress: boolean;
  repeatable: boolean;
  readOnly: boolean;
  /** Who must approve each call; absent: nobody. */
  confirm?: Approver;
  offered: OfferedTool;
}

/** The offers of one turn, by the offered name. Empty: the model gets no tools. */
export type Offers = ReadonlyMap<string, Offer>;

/** Some model APIs refuse the whole request over a longer description, and a page must not be able to cause that. */
const PAGE_DESCRIPTION_CHARS = 1_024;

const progressSchema: Schema = {
  type: "string",
  description:
    "In the visitor's language, shown to the visitor: what is being done, and behind a bar what has been done then. Example: Searching the shop … | Searched the shop",
};

const taskFailed: OfferedTool = {
  name: TASK_FAILED,
  description:
    "Call this, and nothing else, when the visitor's goal cannot be reached with the tools there are. It ends the run.",
  parameters: {
    type: "object",
    properties: {
      reason: {
        type: "string",
        description: "Why, in one sentence for the visitor, in the visitor's language.",
      },
    },
    required: ["reason"],
  },
};

const handOffTo = (queues: readonly string[]): OfferedTool => ({
  name: HAND_OFF,
  description:
    "Call this, and nothing else, to hand the conversation over to a person of this site: when the visitor asks for one, or needs what only a person can do. The visitor is told; say nothing more.",
  parameters: {
    type: "object",
    properties: {
      reason: { type: "string", description: "Why a person is needed, in one sentence for that person." },
      summary: {
        type: "string",
        description: "What has happened so far, in a few sentences for that person.",
      },
      ...(queues.length > 0
        ? {
            queue: {
              type: "string",
              enum: [...queues],
              description: "Whose matter it is; leave it out if that is not clear.",
            },
          }
        : {}),
    },
    required: ["reason", "summary"],
  },
});

/** Each tool that a channel lets nobody call without approval says who approves it. */
export function withApprovers(
  tools: readonly ServerTool[],
  settings: ToolSettings | undefined,
): readonly ServerTool[] {
  if (settings === undefined) return tools;
  const { confirm, by = "visitor" } = settings;
  return tools.map((tool) => (confirm.includes(tool.name) ? { ...tool, confirm: by } : tool));
}

/** Names the tools of one turn. If the page has a name twice, only the first tool is offered. */
export function offerTools(
  serverTools: readonly ServerTool[],
  catalog: Catalog,
  allowsHandOff = false,
): Offers {
  const offers = new Map<string, Offer>();
  const own = allowsHandOff ? [TASK_FAILED, HAND_OFF] : [TASK_FAILED];
  const isTaken = (name: string) => own.includes(name) || offers.has(name);

  for (const tool of serverTools) {
    const name = freeName(tool.name, isTaken, [`${tool.server}_${tool.name}`]);
    offers.set(name, offerOf(name, tool.inputSchema, serverOffer(tool)));
  }

  const pageTools = new Map<string, PageTool>();
  for (const tool of catalog) if (!pageTools.has(tool.name)) pageTools.set(tool.name, tool);
  // Own names first: a tool that needs a safe name must not take the own name of a later tool.
  const keepsName = (tool: PageTool) => freeName(tool.name, isTaken) === tool.name;
  const named = [...pageTools.values()];
  for (const tool of [...named.filter(keepsName), ...named.filter((tool) => !keepsName(tool))]) {
    const name = freeName(tool.name, isTaken);
    const picked = new PickedSchema(tool.inputSchema);
    offers.set(name, offerOf(name, picked.shown(), pageOffer(tool, picked)));
  }
  return offers;
}

/** How many tools of the service's own stand beside a turn's. */
export function ownTools(allowsHandOff: boolean): number {
  return allowsHandOff ? 2 : 1;
}

/** The offers with `task_failed`; `hand_off`, if the channel allows it (to one of these queues), even without other tools. */
export function toolsFor(
  offers: Offers,
  allowsHandOff = false,
  queues: readonly string[] = [],
): OfferedTool[] {
  const own = offers.size === 0 ? [] : [...[...offers.values()].map((offer) => offer.offered), taskFailed];
  return allowsHandOff ? [...own, handOffTo(queues)] : own;
}

/** The meaning of an offer: everything except its name and parameters. */
type OfferMeaning = Pick<
  Offer,
  "kind" | "tool" | "server" | "fallbackProgress" | "picked" | "repeatable" | "readOnly" | "confirm"
> & {
  description: string;
};

function pageOffer(tool: PageTool, picked: PickedSchema): OfferMeaning {
  return {
    kind: "page",
    tool: tool.name,
    server: null,
    fallbackProgress: asWords(tool.name),
    picked,
    repeatable: false,
    readOnly: false,
    description: pageDescription(tool.description),
  };
}

function serverOffer(tool: ServerTool): OfferMeaning {
  return {
    kind: "server",
    tool: tool.name,
    server: tool.server,
    fallbackProgress: tool.title ?? asWords(tool.name),
    picked: tool.picked,
    repeatable: tool.repeatable,
    readOnly: tool.readOnly,
    ...(tool.confirm === undefined ? {} : { confirm: tool.confirm }),
    description: tool.description,
  };
}

function offerOf(name: string, schema: Schema, { description, ...meaning }: OfferMeaning): Offer {
  const own = isRecord(schema["properties"]) ? schema["properties"] : {};
  const ownsProgress = Object.hasOwn(own, PROGRESS);
  const properties = ownsProgress ? own : { ...own, [PROGRESS]: progressSchema };
  return {
    ...meaning,
    ownsProgress,
    offered: { name, description, parameters: { ...schema, type: "object", properties } },
  };
}

/**
 * Quoted, so that the model cannot take the page's text for the service's own words. Said once for the whole tool: its schema
 * stays as the page wrote it, since models call tools best by the schemas that they know.
 */
function pageDescription(description: string | undefined): string {
  const intro = "A tool of the page that the visitor is on.";
  if (description === undefined || description.trim() === "") return intro;
  return cutText(`${intro} The page describes it as: ${JSON.stringify(description)}`, PAGE_DESCRIPTION_CHARS);
}

/** `add_to_cart` → `add to cart` */
function asWords(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").trim();
  return words === "" ? name : words;
}
