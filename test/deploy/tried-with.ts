import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLIENTS } from "../real-clients/clients.ts";
import { pathOf } from "../support/programs.ts";
import { PROXIES } from "./proxies.ts";

/** What the service was tried with, and how anybody repeats it: the rows of src/deploy/tried-with.md. */
export interface TriedWith {
  what: string;
  /** What was tried. */
  how: string;
  /** Repeats it. */
  command: string;
  /** An npm package, whose version package-lock.json has. */
  package?: string;
  /** The version that is on this machine; null: it is not here. */
  version: () => string | null;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
export const PAGE = join(root, "src/deploy/tried-with.md");

const tests = (...paths: string[]) => `npx vitest run --config test/vitest.config.ts ${paths.join(" ")}`;

/** The first version in what a command prints, on either output. */
function versionOf(command: string | null, ...args: string[]): string | null {
  if (command === null) return null;
  try {
    const text = execFileSync("sh", ["-c", '"$0" "$@" 2>&1', command, ...args], { encoding: "utf8" });
    return /\d+(?:\.\d+)+/.exec(text.replaceAll(/^.*unexpected operator$/gm, ""))?.[0] ?? null;
  } catch {
    return null;
  }
}

/** Of a package under its own name, or under the name that it has here. */
export function lockedVersion(name: string): string | null {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string }>;
  };
  return packages[`node_modules/${name}`]?.version ?? null;
}

function fromNpm(what: string, name: string, row: Pick<TriedWith, "how" | "command">): TriedWith {
  return { what, ...row, package: name, version: () => lockedVersion(name) };
}

const NATIVE = {
  how: "the listener's contract, time, bad input, proxies",
  command: "npm run native-listener",
};
const STREAM = "each line of a stream when it is written, on both listeners";
const PROXY = "text and each line when it is written, plain and gzipped; client addresses, cookies, HTTP/1.0";
const AI_SDK = { how: "its client, in conversations with tools", command: tests("test/http/ai-sdk") };
const AG_UI = { how: "its client, in conversations with tools", command: tests("test/http/ag-ui") };

const PAGES = { how: "the element in its pages", command: tests("test/widget") };

export const TRIED_WITH: readonly TriedWith[] = [
  fromNpm("uWebSockets.js, as @btc-vision/uwebsockets.js", "uWebSockets.js", NATIVE),
  ...CLIENTS.map((client): TriedWith => ({
    what: client.name,
    how: STREAM,
    command: "npm run real-clients",
    version: () => client.version(),
  })),
  ...PROXIES.map(({ name, path }): TriedWith => ({
    what: name,
    how: PROXY,
    command: tests("test/deploy/proxies", "test/deploy/delay"),
    version: () => versionOf(path, name === "caddy" ? "version" : "-v"),
  })),
  {
    what: "Redis",
    how: "whole conversations over two instances; each prefix of its append-only file",
    command: tests("test/scenarios", "test/stores/redis/file"),
    version: () => versionOf(pathOf("redis"), "--version"),
  },
  {
    what: "Chromium",
    how: "the element: how it looks, its languages, its keyboard",
    command: tests("test/widget/page/appearance"),
    version: () => versionOf(pathOf("browser"), "--version"),
  },
  fromNpm("AI SDK 7, ai", "ai", AI_SDK),
  fromNpm("AI SDK 6, ai", "ai-6", AI_SDK),
  fromNpm("AI SDK 5, ai", "ai-5", AI_SDK),
  fromNpm("AG-UI, @ag-ui/client", "@ag-ui/client", AG_UI),
  fromNpm("AG-UI, @ag-ui/client, old", "ag-ui-client-0", AG_UI),
  fromNpm("CopilotKit, @copilotkit/core", "@copilotkit/core", AG_UI),
  fromNpm("OpenID Connect, oidc-provider", "oidc-provider", {
    how: "signing in to the console",
    command: tests("test/http/console"),
  }),
  fromNpm("MCP, @modelcontextprotocol/server-everything", "@modelcontextprotocol/server-everything", {
    how: "its tools and its question, over stdio, Streamable HTTP and SSE",
    command: tests("test/agent/mcp/mcp-real-servers"),
  }),
  fromNpm("MCP, servers of @modelcontextprotocol/sdk", "@modelcontextprotocol/sdk", {
    how: "tools over Streamable HTTP and SSE, sessions that end, signing in",
    command: tests("test/agent"),
  }),
  fromNpm("Standard Webhooks, standardwebhooks", "standardwebhooks", {
    how: "signatures, and while a secret changes",
    command: tests("test/webhooks"),
  }),
  fromNpm("React, react-dom", "react-dom", PAGES),
  fromNpm("Turbo, @hotwired/turbo", "@hotwired/turbo", PAGES),
  fromNpm("WebMCP, @mcp-b/webmcp-polyfill", "@mcp-b/webmcp-polyfill", PAGES),
];

export interface WrittenRow {
  what: string;
  version: string;
  /** YYYY-MM-DD. */
  date: string;
  how: string;
  command: string;
}

const ROW = /^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| `([^|`]+)` \|$/gm;

export function rowsIn(page: string): WrittenRow[] {
  return [...page.matchAll(ROW)].map(([, what = "", version = "", date = "", how = "", command = ""]) => ({
    what,
    version,
    date,
    how,
    command,
  }));
}

export function rowOf({ what, version, date, how, command }: WrittenRow): string {
  return `| ${what} | ${version} | ${date} | ${how} | \`${command}\` |`;
}
