import type { Metric, Registry } from "prom-client";

/*
 * Counters and histograms in a registry of prom-client, counted in plain numbers: prom-client itself makes a text of the
 * labels for each observation, and a message has some thirty. What it writes of them is made when it asks.
 */

type Labels<Name extends string> = Readonly<Record<Name, string | number>>;

interface Described<Name extends string> {
  name: string;
  help: string;
  labelNames: readonly Name[];
}

/** The numbers of one combination of labels. */
interface Series<Numbers> {
  labels: Readonly<Record<string, string | number>>;
  numbers: Numbers;
}

/** Where the value of one label leads. */
interface Place<Numbers> {
  next: Map<string | number, Place<Numbers>>;
  /** null: no combination of labels ends here yet. */
  numbers: Numbers | null;
}

abstract class PlainMetric<Name extends string, Numbers> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  abstract readonly type: string;
  readonly #root: Place<Numbers> = { next: new Map(), numbers: null };
  /** In the order of their first use. */
  readonly #series: Series<Numbers>[] = [];

  constructor({ name, help, labelNames }: Described<Name>, registry: Registry) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    // The package's type for a metric is its own classes; its registry calls only `get`.
    registry.registerMetric(this as unknown as Metric<string>);
  }

  protected abstract fresh(): Numbers;

  /** As prom-client writes them. */
  protected abstract told(series: Series<Numbers>): object[];

  /** For prom-client. */
  async get(): Promise<object> {
    const { name, help, type } = this;
    return { name, help, type, values: this.#series.flatMap((one) => this.told(one)), aggregator: "sum" };
  }

  protected of(labels: Labels<Name>): Numbers {
    let place = this.#root;
    for (const name of this.labelNames) {
      const value = labels[name];
      let next = place.next.get(value);
      if (!next) place.next.set(value, (next = { next: new Map(), numbers: null }));
      place = next;
    }
    return (place.numbers ??= this.#begin(labels));
  }

  #begin(labels: Labels<Name>): Numbers {
    const numbers = this.fresh();
    this.#series.push({ labels: { ...labels }, numbers });
    return numbers;
  }
}

interface Count {
  value: number;
}

export class Counter<Name extends string> extends PlainMetric<Name, Count> {
  readonly type = "counter";

  constructor(described: Described<Name>, registry: Registry) {
    super(described, registry);
    // Without labels it is told from the start.
    if (described.labelNames.length === 0) this.inc({} as Labels<Name>, 0);
  }

  inc(labels: Labels<Name>, by = 1): void {
    this.of(labels).value += by;
  }

  protected fresh(): Count {
    return { value: 0 };
  }

  protected told({ labels, numbers: { value } }: Series<Count>): object[] {
    return [{ labels, value }];
  }
}

interface Observed {
  /** By bucket; what is above the last bound is in none. */
  counts: number[];
  sum: number;
  count: number;
}

export class Histogram<Name extends string> extends PlainMetric<Name, Observed> {
  readonly type = "histogram";
  readonly #bounds: readonly number[];

  /** `bounds`: of its buckets, ascending. */
  constructor(described: Described<Name>, bounds: readonly number[], registry: Registry) {
    super(described, registry);
    this.#bounds = bounds;
  }

  observe(labels: Labels<Name>, value: number): void {
    const observed = this.of(labels);
    observed.sum += value;
    observed.count += 1;
    const nth = this.#bounds.findIndex((bound) => value <= bound);
    if (nth >= 0) observed.counts[nth] = (observed.counts[nth] ?? 0) + 1;
  }

  protected fresh(): Observed {
    return { counts: this.#bounds.map(() => 0), sum: 0, count: 0 };
  }

  /** A bucket tells everything up to its bound. */
  protected told({ labels, numbers: { counts, sum, count } }: Series<Observed>): object[] {
    const { name } = this;
    let upTo = 0;
    const buckets = this.#bounds.map((le, nth) => {
      upTo += counts[nth] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: upTo };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { le: "+Inf", ...labels }, value: count },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
