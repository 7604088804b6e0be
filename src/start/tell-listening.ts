import { keysFileOf } from "../installation/keys-file.ts";
import type { Secret } from "../secret.ts";
import type { Service } from "../service.ts";
import { firstChannel } from "./channels.ts";
import { greetingText } from "./greeting.ts";
import type { Demo } from "./open-demo.ts";
import type { Resources } from "./open-resources.ts";
import type { Starting } from "./starting.ts";

/** Reports that the service listens, in the log and to people on stderr; a member's supervisor does both for it. */
export async function tellListening(
  { config, log, member }: Starting,
  told: {
    service: Service;
    resources: Resources;
    demo: Demo | null;
    transportKey: Secret;
    /** The key of the operator `local`; null if there is none, or another start created it. */
    localKey: Secret | null;
  },
): Promise<void> {
  const { service, demo, transportKey, localKey } = told;
  const { store, model } = told.resources;
  const { url, listener } = service;
  // Nothing that a greeting tells of is there.
  if (config.messengers === "only") return log.info({ url, store: store.kind }, "Listening to messengers");
  const greeting = greetingText({
    url,
    demoUrl: demo?.url ?? null,
    isDemoHeldBack: config.isDemoHeldBack,
    console: config.console ? { url: `${url}/console`, key: localKey } : null,
    model: model.kind,
    answers: model.answers ?? [],
    generatedKey: config.harnessApiKey === null ? transportKey : null,
    hasSeveralKeys: config.olderApiKeys.length > 0,
    demoKeys: demo?.keys ?? null,
    channel: await firstChannel(store),
    // What is no terminal is read by others: a file, a container's log, a pipe into a collector. A member has its
    // supervisor's stderr.
    keysFile: process.stderr.isTTY ? null : keysFileOf(config.dataDir),
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
