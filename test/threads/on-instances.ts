import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Store } from "../../src/store.ts";
import { prepareRedis } from "../support/stores/store-kinds.ts";
import type { TestDatabase } from "../support/stores/store-kinds.ts";
import { createInstance } from "./instance.ts";
import type { Instance, InstanceOptions } from "./instance.ts";

export interface TwoInstances {
  stores: [Store, Store];
  a: Instance;
  b: Instance;
}

/** Before each test two instances on one empty Redis; after it they are gone. `optionsOf`: of the first, of the second. */
export function eachOnTwoInstances(
  use: (two: TwoInstances) => void,
  optionsOf: () => [InstanceOptions, InstanceOptions] = () => [{}, {}],
): void {
  let ground: TestDatabase;
  let two: TwoInstances;

  beforeAll(async () => {
    ground = await prepareRedis();
  });

  beforeEach(async () => {
    const stores: [Store, Store] = [await ground.open(), await ground.open()];
    const [ofA, ofB] = optionsOf();
    two = { stores, a: createInstance(stores[0], ofA), b: createInstance(stores[1], ofB) };
    await two.a.threads.start();
    await two.b.threads.start();
    use(two);
  });

  afterEach(async () => {
    await Promise.all([two.a.threads.drain(0), two.b.threads.drain(0)]);
    await Promise.all(two.stores.map((store) => store.close()));
    await ground.clear();
  });

  afterAll(() => ground.remove());
}

export interface OneInstance {
  store: Store;
  here: Instance;
  /** Ends the process, and starts the next one on the same store; `use` is called again. */
  restart: () => Promise<void>;
}

/** The same with one instance, on any store. */
export function eachOnOneInstance(
  prepare: () => Promise<TestDatabase>,
  use: (one: OneInstance) => void,
  options: InstanceOptions = {},
): void {
  let ground: TestDatabase;
  let store: Store;
  let here: Instance;

  async function start(): Promise<void> {
    store = await ground.open();
    here = createInstance(store, options);
    use({ store, here, restart });
  }

  async function end(): Promise<void> {
    await here.threads.drain(0);
    await store.close();
  }

  async function restart(): Promise<void> {
    await end();
    await start();
    await here.threads.start();
  }

  beforeAll(async () => {
    ground = await prepare();
  });

  beforeEach(start);

  afterEach(async () => {
    await end();
    await ground.clear();
  });

  afterAll(() => ground.remove());
}
