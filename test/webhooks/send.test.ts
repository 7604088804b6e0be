// For src/webhooks/send.ts
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { Secret } from "../../src/secret.ts";
import { createSender } from "../../src/webhooks/send.ts";
import type { Sender } from "../../src/webhooks/send.ts";
import { sharedLookup } from "../../src/public-lookup.ts";
import { openHttpServer } from "../support/servers/http-server.ts";
import { SECRET } from "./receiver.ts";

/** More than the connections that a receiver is given. */
const MANY = 100;

function openSender(options: Partial<Parameters<typeof createSender>[0]> = {}): Sender {
  const sender = createSender({ clock: systemClock, allowsPrivate: true, ...options });
  onTestFinished(() => sender.close());
  return sender;
}

const event = (nth: number, url: string) => ({
  url,
  id: `msg_${nth}`,
  body: "{}",
  secrets: [new Secret(SECRET)],
});

test("a receiver that never ends its answers takes what it is sent all the same", async () => {
  const origin = await openHttpServer((_request, response) =>
    response.writeHead(200).write("more will follow"),
  );
  const sender = openSender();
  const sent = await Promise.all(
    Array.from({ length: MANY }, (_, nth) => sender.send(event(nth, `${origin}/hook`))),
  );
  expect(sent.filter(({ status }) => status !== 200)).toEqual([]);
});

test("a name is looked up once for all who connect at the same time, by the sender too", async () => {
  const origin = await openHttpServer((_request, response) => response.writeHead(204).end());
  const asked: (() => void)[] = [];
  let hangs = true;
  const sender = openSender({
    lookup(_host, _options, callback) {
      const answer = () => callback(null, [{ address: "127.0.0.1", family: 4 }]);
      asked.push(answer);
      if (!hangs) answer();
    },
  });
  const sending = Promise.all(
    Array.from({ length: MANY }, (_, nth) =>
      sender.send(event(nth, `http://office.example:${new URL(origin).port}/hook`)),
    ),
  );
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  // Whoever connects has begun by now.
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toHaveLength(1);
  hangs = false;
  asked[0]?.();
  const sent = await sending;
  expect(sent.filter(({ status }) => status !== 204)).toEqual([]);
});

test("sharedLookup() asks anew when it was answered, for another name, and for other options", () => {
  const asked: { host: string; fail: () => void }[] = [];
  const lookup = sharedLookup((host, _options, callback) => {
    asked.push({ host, fail: () => callback(new Error("no such name"), []) });
  });
  const heard: string[] = [];
  const ask = (host: string, all = true) =>
    lookup(host, { all }, (error) => heard.push(`${host} ${error?.message}`));
  for (const host of ["a.example", "b.example", "a.example"]) ask(host);
  ask("a.example", false);
  expect(asked.map(({ host }) => host)).toEqual(["a.example", "b.example", "a.example"]);
  asked[0]?.fail();
  expect(heard).toEqual(["a.example no such name", "a.example no such name"]);
  ask("a.example");
  expect(asked).toHaveLength(4);
});
