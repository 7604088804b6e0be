import { Webhook } from "standardwebhooks";
import { openHttpServer } from "../support/servers/http-server.ts";

export const SECRET = `whsec_${Buffer.from("a secret of twenty-four bytes").toString("base64")}`;

/** A body as receivers read it. */
export interface Told {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown> & {
    channel: string;
    sequence?: number;
    message?: { id: string; role: string; content: string };
  };
  raw: string;
  signature: string;
}

/** What a receiver answers; null: nothing, ever. */
export type Answers = (told: Told) => number | null;

export interface Receiver {
  url: string;
  /** All that came, each verified by the client of Standard Webhooks. */
  told: Told[];
  /** Why something was no webhook. */
  faults: unknown[];
  /** Of those that it took, by id. */
  taken(): Told[];
  answer(answers: Answers): void;
}

/** A receiver on a free port, closed when the test is over. */
export async function startReceiver(answers: Answers = () => 204, secret = SECRET): Promise<Receiver> {
  const told: Told[] = [];
  const taken = new Map<string, Told>();
  const faults: unknown[] = [];
  let answering = answers;
  const origin = await openHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const raw = Buffer.concat(chunks).toString("utf8");
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      try {
        const body = new Webhook(secret).verify(raw, headers) as Omit<Told, "id" | "raw" | "signature">;
        const id = headers["webhook-id"] ?? "";
        const one = { ...body, id, raw, signature: headers["webhook-signature"] ?? "" };
        told.push(one);
        const status = answering(one);
        if (status === null) return;
        if (status < 300) taken.set(id, one);
        response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end("thanks");
      } catch (error) {
        faults.push(error);
        response.writeHead(400).end();
      }
    });
  });
  return {
    url: `${origin}/hook`,
    told,
    faults,
    taken: () => [...taken.values()],
    answer: (next) => void (answering = next),
  };
}
