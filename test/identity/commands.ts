import fc from "fast-check";

/** `who`, `which`: of those there are at that moment, counted round. */
export type Command =
  | { type: "visit" }
  | { type: "open thread"; who: number }
  | { type: "say"; who: number; which: number; calls: boolean }
  | { type: "look into another's thread"; who: number; whose: number }
  | { type: "answer"; who: number; which: number; isRight: boolean }
  | { type: "identify"; who: number; account: string; token: "own" | "unknown" | "expired" | "foreign" }
  | { type: "identify with a wrong key"; who: number; account: string }
  | { type: "send"; account: string; which: number; displayName: string | undefined }
  | { type: "ask for access"; account: string }
  | { type: "flag"; who: number; flags: { blocked?: boolean; whitelisted?: boolean } }
  | { type: "set the channel"; enabled: boolean; whitelistOnly: boolean };

const nth = fc.nat({ max: 5 });
const account = fc.constantFrom("ada", "kim");
export const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant("visit") }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("open thread"), who: nth }) },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant("say"), who: nth, which: nth, calls: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("look into another's thread"), who: nth, whose: nth }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("answer"),
      who: nth,
      which: nth,
      isRight: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("identify"),
      who: nth,
      account,
      token: fc.oneof(
        { weight: 6, arbitrary: fc.constant("own") },
        fc.constantFrom("unknown", "expired", "foreign"),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("identify with a wrong key"), who: nth, account }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("send"),
      account,
      which: nth,
      displayName: fc.constantFrom(undefined, "Ada", "Kim"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("ask for access"), account }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("flag"),
      who: nth,
      flags: fc.constantFrom<{ blocked?: boolean; whitelisted?: boolean }>(
        { blocked: true },
        { blocked: false },
        { whitelisted: true },
        { whitelisted: false },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("set the channel"),
      enabled: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
      whitelistOnly: fc.boolean(),
    }),
  },
) as fc.Arbitrary<Command>;
