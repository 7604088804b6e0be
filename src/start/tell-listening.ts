import { fstatSync } from "node:fs";
import { readVariable } from "../config.ts";
import type { Config } from "../config.ts";
import { keysFileOf } from "../installation/keys-file.ts";
import type { Secret } from "../secret.ts";
import type { Service } from "../service.ts";
import { firstChannel } from "./channels.ts";
import { greetingText } from "./greeting.ts";
import type { ConsoleGreeting } from "./greeting.ts";
import { isKeptByOthers } from "./kept-by-others.ts";
import type { Demo } from "./open-demo.ts";
import type { Inspector } from "./open-inspector.ts";
import type { Resources } from "./open-resources.ts";
import type { Member } from "./processes/member.ts";
import type { Starting } from "./starting.ts";

/** Reports that the service listens, in the log and to people on stderr; a member's supervisor does both for it. */
export async function tellListening(
  { config, log, member }: Starting,
  told: {
    service: Service;
    resources: Resources;
    inspector: Inspector | null;
    demo: Demo | null;
    transportKey: Secret;
    /** The key of the operator `local`; null if there is none, or another start created it. */
    localKey: Secret | null;
  },
): Promise<void> {
  const { service, inspector, demo, transportKey, localKey } = told;
  const { store, model } = told.resources;
  const { url, listener } = service;
  const greeting = greetingText({
    url,
    demoUrl: demo?.url ?? null,
    isDemoHeldBack: config.isDemoHeldBack,
    inspectorUrl: inspector?.linkOf(url) ?? null,
    console: config.console ? consoleGreeting(url, localKey, config) : null,
    model: model.kind,
    answers: model.answers ?? [],
    generatedKey: config.harnessApiKey === null ? transportKey : null,
    hasSeveralKeys: config.olderApiKeys.length > 0,
    demoKeys: demo?.keys ?? null,
    channel: await firstChannel(store),
    keysFile: isStderrKeptByOthers(member) ? keysFileOf(config.dataDir) : null,
  });
  const entry = {
    url,
    demoUrl: demo?.url,
    listener,
    store: store.kind,
    model: model.kind,
    answers: model.answers,
  };
  if (member === null) {
    log.info(entry, "Listening");
    process.stderr.write(greeting);
  } else {
    log.info({ listener }, "Listening with the others");
    member.listening(entry, greeting);
  }
}

/** On a terminal, a link with the key; elsewhere the output may end up in a log. */
function consoleGreeting(url: string, key: Secret | null, { dataDir }: Config): ConsoleGreeting {
  const page = `${url}/console`;
  if (key === null) return { url: page, key: null };
  if (process.stderr.isTTY) return { url: page, key: { type: "link", key } };
  return { url: page, key: { type: "kept", path: keysFileOf(dataDir) } };
}

function isStderrKeptByOthers(member: Member | null): boolean {
  return isKeptByOthers({
    isTerminal: process.stderr.isTTY,
    // The supervisor prints a member's greeting.
    pid: member === null ? process.pid : process.ppid,
    journalStream: readVariable("JOURNAL_STREAM")?.reveal(),
    stat: () => fstatSync(process.stderr.fd),
  });
}
