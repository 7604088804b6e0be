import type { ClusterNode } from "./cluster-node.ts";

export async function allTell(nodes: ClusterNode[], fact: string): Promise<boolean> {
  const told = await Promise.all(nodes.map(({ orders }) => orders.send("CLUSTER", "INFO")));
  return told.every((text) => String(text).includes(fact));
}

export async function isPrimary({ orders }: ClusterNode): Promise<boolean> {
  const [role] = (await orders.send("ROLE")) as [string];
  return role === "master";
}

/** Every replica has a link to its primary that works. */
export async function areInStep(nodes: ClusterNode[]): Promise<boolean> {
  const roles = await Promise.all(nodes.map(({ orders }) => orders.send("ROLE")));
  return (roles as [string, ...unknown[]][]).every(
    ([role, , , state]) => role === "master" || state === "connected",
  );
}

/** Nothing of what was done to a cluster is left, in the eyes of any node. */
export async function isWhole(nodes: ClusterNode[]): Promise<boolean> {
  if (!nodes.every(({ answers }) => answers)) return false;
  try {
    const views = await Promise.all(nodes.map(viewOf));
    const [first = []] = views;
    if (!views.every((view) => view.join() === first.join())) return false;
    if (!first.every(isWell) || !(await allTell(nodes, "cluster_state:ok"))) return false;
    return (await areInStep(nodes)) && (await areFollowed(nodes));
  } catch {
    // One that was just started may not take commands yet.
    return false;
  }
}

/** One line for each node, sorted: its id, what it is, whom it follows, its slots. */
async function viewOf({ orders }: ClusterNode): Promise<string[]> {
  const lines = String(await orders.send("CLUSTER", "NODES"))
    .trim()
    .split("\n");
  return lines
    .map((line) => {
      const [id, , flags = "", follows, , , , , ...slots] = line.split(" ");
      return [id, flags.replace("myself,", ""), follows, ...slots].join(" ");
    })
    .sort();
}

/** A primary with slots, or a replica; nobody failed, or perhaps failed, or unknown. */
function isWell(line: string): boolean {
  const [, flags = "", , ...slots] = line.split(" ");
  const role = flags.replace(",nofailover", "");
  if (role === "slave") return true;
  return role === "master" && slots.length > 0 && !slots.some((slot) => slot.startsWith("["));
}

/** Each primary sends what it writes to its replica, which has the rest. */
async function areFollowed(nodes: ClusterNode[]): Promise<boolean> {
  const told = await Promise.all(nodes.map(({ orders }) => orders.send("INFO", "replication")));
  return told.map(String).every((text) => {
    if (!text.includes("role:master")) return true;
    return text.includes("connected_slaves:1") && text.includes("state=online");
  });
}
