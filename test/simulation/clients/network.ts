import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";
import type { HttpAnswer, Outlet } from "../../../src/listener.ts";
import type { Instance } from "../instance/instance.ts";
import type { World } from "../world.ts";
import type { Exchange } from "./exchange.ts";
import { isStream } from "./exchange.ts";
import { arriving } from "./requests.ts";
import type { SentRequest } from "./requests.ts";

/** Between clients and instances: connections with a latency, which break when a process dies, and sometimes without it. */
export interface ClientNetwork {
  /** Resolves when the answer is over, or will not come. */
  ask(client: string, instance: Instance, request: SentRequest): Promise<Exchange>;
  /** Once the simulation is over: closes on the servers' side what is open, also of processes that died, whose memory nothing else frees. */
  close(): void;
}

/** A client leaves where it has heard nothing for so long. */
const PATIENCE_MS = 12_000;
/** A stream that the network cuts breaks off within this time. */
const CUT_WITHIN_MS = 3_000;

export function createClientNetwork(world: World): ClientNetwork {
  const { time, plan, judge, count } = world;
  const random = world.randomOf("clients' network");
  const served = new Set<() => void>();
  let exchanges = 0;

  const latencyMs = () => random.between(...plan.clientLatencyMs);

  return {
    ask(client, instance, request) {
      const exchange: Exchange = {
        nth: ++exchanges,
        client,
        instance: instance.process.id,
        about: request.about,
        sentAtMs: time.nowMs,
        status: null,
        heardAtMs: null,
        runId: null,
        body: "",
        lines: [],
        isCut: false,
        closedAtMs: null,
      };
      judge({ type: "asked", exchange });
      return new Promise((resolve) => open(instance, request, exchange, () => resolve(exchange)));
    },

    close() {
      for (const leave of served) leave();
    },
  };

  function open(instance: Instance, request: SentRequest, exchange: Exchange, onClosed: () => void): void {
    const { process } = instance;
    let freeFromMs = 0;
    let callOffPatience = () => {};
    let isGone = false;
    let onGone = () => {};
    let unread = "";
    /** Of a body that is no stream of lines. */
    let isWhole = false;

    function close(): void {
      if (exchange.closedAtMs !== null) return;
      exchange.closedAtMs = time.nowMs;
      callOffPatience();
      const last = exchange.lines.at(-1);
      exchange.isCut = !(isStream(exchange) ? last && isTerminal(last) : isWhole);
      time.after(latencyMs(), () => process.deliver(leaveServer));
      judge({ type: "closed", exchange });
      onClosed();
    }

    function leaveServer(): void {
      if (isGone) return;
      isGone = true;
      served.delete(leaveServer);
      onGone();
    }

    /** Bytes of one connection arrive in their order. */
    function toClient(arrive: () => void): void {
      freeFromMs = Math.max(freeFromMs, time.nowMs + latencyMs());
      time.after(freeFromMs - time.nowMs, () => {
        if (exchange.closedAtMs === null) arrive();
      });
    }

    function waitOn(): void {
      callOffPatience();
      callOffPatience = time.after(PATIENCE_MS, close);
    }

    function hearStatus({ status, headers, body }: HttpAnswer): void {
      exchange.status = status;
      exchange.runId = headers["x-run-id"] ?? null;
      exchange.heardAtMs = time.nowMs;
      exchange.body = body === undefined ? "" : String(body);
      judge({ type: "heard", exchange, status });
      waitOn();
    }

    function hear(text: string): void {
      waitOn();
      if (!isStream(exchange)) {
        exchange.body += text;
        return;
      }
      const lines = (unread + text).split("\n");
      unread = lines.pop() ?? "";
      for (const text of lines) {
        const line = JSON.parse(text) as Line;
        exchange.lines.push(line);
        request.onLine?.(line);
      }
    }

    function closeWhole(): void {
      isWhole = true;
      close();
    }

    let pulled = (): void => {};
    const outlet: Outlet = {
      write(chunk) {
        if (process.isAlive && !isGone) toClient(() => hear(String(chunk)));
        pulled();
      },
      pull(next) {
        pulled = () => queueMicrotask(next);
        next();
      },
      cut: () => close(),
      end(chunk = "") {
        if (!process.isAlive || isGone) return;
        toClient(() => {
          hear(String(chunk));
          closeWhole();
        });
      },
      onDrained: (callback) => toClient(callback),
      onGone(callback) {
        onGone = callback;
        if (isGone) callback();
        else served.add(leaveServer);
      },
    };

    async function work(): Promise<void> {
      judge({ type: "begun", exchange });
      const answer = await instance.handler(arriving(request));
      if (!process.isAlive) return;
      judge({ type: "answered", exchange, status: answer.status });
      toClient(() => hearStatus(answer));
      if (answer.stream) answer.stream(outlet);
      else toClient(closeWhole);
    }

    waitOn();
    process.onDeath(() => toClient(close));
    time.after(latencyMs(), () => {
      if (!instance.isOpen) return toClient(close);
      process.deliver(() => void work());
    });
    if (isStream(exchange) && !world.faultsAreOver() && random.chance(plan.cutStreams)) {
      count("streams cut");
      time.after(random.between(0, CUT_WITHIN_MS), close);
    }
  }
}
