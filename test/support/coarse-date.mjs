// `NODE_OPTIONS="--import $PWD/test/support/coarse-date.mjs"`: Date goes in steps of COARSE_MS, so that what tells the order
// of two things by their milliseconds fails each time, and not once in a thousand.
const STEP_MS = Number(process.env.COARSE_MS ?? 200);
const RealDate = Date;
const now = () => Math.floor(RealDate.now() / STEP_MS) * STEP_MS;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, asked) => Reflect.construct(target, given.length === 0 ? [now()] : given, asked),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});
