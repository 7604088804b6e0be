import { parser } from "@prometheus-io/lezer-promql";

/** What an expression of PromQL names, by Prometheus' own grammar. */
export interface Named {
  metrics: string[];
  /** Labels that it matches or groups by, each with the metrics of its selection or aggregation. */
  labels: { label: string; of: string[] }[];
}

/** Throws where it does not parse. */
export function namedIn(expression: string): Named {
  const tree = parser.parse(expression);
  const metrics: string[] = [];
  const labels: Named["labels"] = [];
  const metricsWithin = (node: ReturnType<typeof parser.parse>["topNode"]): string[] => {
    const found: string[] = [];
    node.cursor().iterate((inner) => {
      if (inner.from >= node.from && inner.to <= node.to && isMetric(inner.node)) found.push(textOf(inner));
    });
    return found;
  };
  tree.iterate({
    enter(node) {
      if (node.type.isError) {
        throw new Error(`Cannot parse ${expression}: at ${expression.slice(node.from, node.from + 20)}`);
      }
      if (isMetric(node.node)) metrics.push(textOf(node));
      if (node.name === "LabelName") {
        const whole = upTo(node.node, ["VectorSelector", "AggregateExpr"]);
        labels.push({ label: textOf(node), of: whole ? metricsWithin(whole) : [] });
      }
    },
  });
  return { metrics, labels };

  function textOf({ from, to }: { from: number; to: number }): string {
    return expression.slice(from, to);
  }
}

type Node = ReturnType<typeof parser.parse>["topNode"];

function isMetric(node: Node): boolean {
  return node.name === "Identifier" && node.parent?.name === "VectorSelector";
}

function upTo(node: Node, names: readonly string[]): Node | null {
  let at: Node | null = node;
  while (at && !names.includes(at.name)) at = at.parent;
  return at;
}
