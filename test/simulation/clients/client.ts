import type { Line } from "../../../machines/line.ts";
import type { Fleet } from "../instance/fleet.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";
import type { Exchange } from "./exchange.ts";
import { terminalOf } from "./exchange.ts";
import type { ClientNetwork } from "./network.ts";
import type { SentRequest } from "./requests.ts";

/** What every client does: asks any instance, waits a little before it asks again, and reads a reply to its end. */
export interface Client {
  readonly name: string;
  readonly random: Random;
  send(request: SentRequest): Promise<Exchange>;
  /** Again and again until it is answered with something else than 503; null where it is not within many tries. */
  sendUntilAnswered(make: () => SentRequest): Promise<Exchange | null>;
  rest(fromMs: number, toMs: number): Promise<void>;
  pause(ms: number): Promise<void>;
}

/** Faults last some seconds; who has tried for minutes is never answered. */
const MOST_TRIES = 200;

export function createClient(
  name: string,
  { world, fleet, network }: { world: World; fleet: Fleet; network: ClientNetwork },
): Client {
  const random = world.randomOf(`client ${name}`);
  const rest = (fromMs: number, toMs: number) => world.time.pause(random.between(fromMs, toMs));

  async function send(request: SentRequest): Promise<Exchange> {
    for (;;) {
      const instance = fleet.any(random);
      if (instance) return network.ask(name, instance, request);
      await rest(50, 300);
    }
  }

  return {
    name,
    random,
    send,
    rest,
    pause: (ms) => world.time.pause(ms),

    async sendUntilAnswered(make) {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const exchange = await send(make());
        if (exchange.status !== null && exchange.status !== 503) return exchange;
        await rest(100, 1_000);
      }
      return null;
    },
  };
}

/** How the stream ended: with the run's own last line; or before it. */
export function endOf(exchange: Exchange): { type: "told"; line: Line } | { type: "unfinished" } {
  const line = terminalOf(exchange);
  if (!line || line.type === "delta" || line.type === "step") return { type: "unfinished" };
  if (line.type === "error" && line.code === "interrupted") return { type: "unfinished" };
  return { type: "told", line };
}
