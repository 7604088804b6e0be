// For src/stores/engines/redis/cluster/slots.ts, src/stores/engines/redis/cluster/topology.ts
import { expect, test } from "vitest";
import { slotOf } from "../../../src/stores/engines/redis/cluster/slots.ts";
import { rangesFrom, topologyOf } from "../../../src/stores/engines/redis/cluster/topology.ts";

test("a key's slot is that of Redis: by CRC-16, and by what stands in the first braces", () => {
  // The cluster specification's own example.
  expect(slotOf("123456789")).toBe(0x31c3);
  expect(slotOf("{user1000}.following")).toBe(slotOf("user1000"));
  expect(slotOf("foo{}{bar}")).toBe(slotOf("foo{}{bar}"));
  expect(slotOf("foo{}{bar}")).not.toBe(slotOf("bar"));
  expect(slotOf("foo{{bar}}zap")).toBe(slotOf("{bar"));
  expect(slotOf("c:{c:Łódź}")).toBe(slotOf("c:Łódź"));
});

const whole = { from: 0, to: 16_383, replicas: [] };

test("a slot is whose most nodes say it is", () => {
  const news = { ...whole, primary: "new:1", replicas: ["old:1"] };
  const old = { ...whole, primary: "old:1" };
  const topology = topologyOf([[news], [old], [news]]);
  expect(topology.primaries).toEqual(["new:1"]);
  expect(topology.nodes).toEqual(["new:1", "old:1"]);
});

test("ranges that differ are compared slot by slot, and a slot that nobody names is nobody's", () => {
  const one = { from: 0, to: 99, primary: "a:1", replicas: [] };
  const other = { from: 100, to: 199, primary: "b:1", replicas: [] };
  const moved = { ...other, from: 99 };
  const topology = topologyOf([
    [one, other],
    [{ ...one, to: 98 }, moved],
    [{ ...one, to: 98 }, moved],
  ]);
  expect([0, 98, 99, 199, 200].map((slot) => topology.primaryOf(slot))).toEqual([
    "a:1",
    "a:1",
    "b:1",
    "b:1",
    null,
  ]);
});

test("a primary's trace keys are in its own slots, several of them; a node without slots has none", () => {
  const topology = topologyOf([
    [
      { ...whole, to: 5_000, primary: "a:1" },
      { ...whole, from: 5_001, primary: "b:1" },
    ],
  ]);
  const slots = topology.tracesOf("a:1").map(slotOf);
  expect(new Set(slots).size).toBeGreaterThan(2);
  expect(slots.every((slot) => slot <= 5_000)).toBe(true);
  expect(topology.tracesOf("c:1")).toEqual([]);
});

test("a node that does not know its own host is where it was asked, also by IPv6", () => {
  const reply = [
    [0, 9, ["", 7_000, "id"], ["10.0.0.2", 7_001, "id"]],
    [10, 19, [null, 7_002, "id"]],
  ];
  expect(rangesFrom(reply, "::1:6379")).toEqual([
    { from: 0, to: 9, primary: "::1:7000", replicas: ["10.0.0.2:7001"] },
    { from: 10, to: 19, primary: "::1:7002", replicas: [] },
  ]);
});
