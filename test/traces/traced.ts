import { onTestFinished, vi } from "vitest";
import { readConfig } from "../../src/config.ts";
import type { Channel } from "../../src/domain/channels/channel.ts";
import { openModel } from "../../src/installation/open-model.ts";
import type { SpansOutcome } from "../../src/traces/counted-processor.ts";
import { openTracing } from "../../src/traces/opentelemetry.ts";
import type { OpenTracing } from "../../src/traces/opentelemetry.ts";
import { startModelServer } from "../support/servers/model-server.ts";
import type { Script } from "../support/servers/model-server.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import type { TestService } from "../support/servers/service.ts";
import { startReceiver } from "./receiver.ts";
import type { Receiver, ReceivedSpan } from "./receiver.ts";

export interface Traced {
  tracing: OpenTracing;
  counts: Record<SpansOutcome, number>;
}

/** Traces as a start with these variables opens them. */
export async function openTraced(env: Record<string, string>): Promise<Traced> {
  const all = { OTEL_BSP_SCHEDULE_DELAY: "20", ...env };
  const { tracing: settings } = readConfig(all);
  if (settings === null) throw new Error("Cannot open traces: these variables leave them off");
  const counts = { exported: 0, failed: 0, dropped: 0 };
  // OpenTelemetry's packages read them when they are opened, and never again.
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const tracing = await openTracing({
    settings,
    version: "0.0.0-test",
    processId: "test-process",
    onSpans: (outcome, count) => (counts[outcome] += count),
  }).finally(() => vi.unstubAllEnvs());
  onTestFinished(() => tracing.close());
  return { tracing, counts };
}

/** The channel `cli`, with what a test wants of it. */
export function cliChannel(more: Partial<Channel> = {}): Channel {
  return {
    slug: "cli",
    kind: "transport",
    publishableKey: null,
    secretKeyHash: null,
    allowedOrigins: [],
    enabled: true,
    accessMode: "open",
    agent: {},
    ...more,
  };
}

export interface TracedService extends Traced {
  service: TestService;
  receiver: Receiver;
  say: (text: string) => ReturnType<typeof sendMessage>;
  /** Those of the requests' spans aside, in the order in which they began, once so many have come. */
  spans: (count: number) => Promise<ReceivedSpan[]>;
}

/** A service in this process whose spans go to a receiver, and whose model says what the script has. */
export async function startTraced(
  script: Script,
  { env = {}, channel = cliChannel() }: { env?: Record<string, string>; channel?: Channel } = {},
): Promise<TracedService> {
  const receiver = await startReceiver();
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  const traced = await openTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env });
  const config = readConfig({ OPENAI_BASE_URL: server.baseUrl, OPENAI_MODEL: "scripted" });
  const { tracing } = traced;
  const model = await openModel(config, { tracing });
  onTestFinished(() => model.close());
  const service = await startTestService({ model, tracing, channels: [channel] });
  return {
    ...traced,
    service,
    receiver,
    say: (text) => sendMessage(service.url, { threadId: "t1", userId: "ada", text }),
    async spans(count) {
      const told = () => receiver.spans.filter(({ kind }) => kind !== "SERVER");
      await vi.waitUntil(() => told().length >= count, { timeout: 60_000, interval: 10 });
      return told().sort((a, b) => a.startMs - b.startMs || depthOf(a, receiver) - depthOf(b, receiver));
    },
  };
}

/** Starts are whole milliseconds: of two spans in one, the parent began first, although its child came first. */
function depthOf({ parentSpanId }: ReceivedSpan, receiver: Receiver): number {
  const parent = receiver.spans.find(({ spanId }) => spanId === parentSpanId);
  return parent === undefined ? 0 : 1 + depthOf(parent, receiver);
}
