// For src/threads/hold/mailbox.ts
import { expect, it } from "vitest";
import { createMailbox } from "../../../src/threads/hold/mailbox.ts";

it("runs tasks one at a time, in order, also after one that threw or rejected", async () => {
  const done: string[] = [];
  const faults: unknown[] = [];
  const mailbox = createMailbox((error) => faults.push(error));
  mailbox.post(async () => {
    await Promise.resolve();
    done.push("slow");
  });
  mailbox.post(() => {
    throw new Error("thrown");
  });
  mailbox.post(() => Promise.reject(new Error("rejected")));
  await new Promise<void>((resolve) => mailbox.post(() => (done.push("last"), resolve())));
  expect(done).toEqual(["slow", "last"]);
  expect(faults.map(String)).toEqual(["Error: thrown", "Error: rejected"]);
});
