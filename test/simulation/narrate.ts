import { holderOf } from "../../src/domain/threads/fence.ts";
import type { Happening } from "./happening.ts";
import type { Trace } from "./trace.ts";

/** A line of the trace for what happened. */
export function narrate(trace: Trace, happening: Happening): void {
  switch (happening.type) {
    case "committed": {
      const { uid, by, commit, where } = happening;
      const { run, claims, takesFrom, startsWaiting, rev } = commit;
      const event = run?.path.at(-1)?.event ?? "";
      const how = [
        claims ? "claims" : "",
        takesFrom === null ? "" : `from ${trace.name("p", holderOf(takesFrom))}`,
        startsWaiting === null ? "" : "from the queue",
      ];
      const what = `rev ${rev} of ${run?.runId ?? "no run"} ${event} ${run?.outcome ?? commit.state} ${how.join(" ")}`;
      const place = where.position === null ? " (among stragglers)" : "";
      return trace.add(uid, `${by} commits ${what}${place}`);
    }
    case "commit heard":
    case "user looked at":
      return;
    case "waited": {
      const { uid, message } = happening;
      return trace.add(uid, `${message.runId} “${message.text}” waits`);
    }
    case "part kept":
      return trace.add(happening.uid, `part ${happening.part.nth} of ${happening.part.runId} is kept`);
    case "catalog set":
      return trace.add(happening.uid, `catalog ${JSON.stringify(happening.catalog)}`);
    case "erased":
      return trace.add(happening.uid, `${happening.by} puts a tombstone in its place`);
    case "deletion": {
      const { step, deletion, by } = happening;
      const uid = deletion.kind === "thread" ? deletion.id : null;
      return trace.add(uid, `the deletion of a ${deletion.kind} is ${step} by ${by}`);
    }
    case "thread listed":
      return trace.add(happening.uid, "it is on the list");
    case "thread unlisted":
      return trace.add(happening.uid, "it is off the list");
    case "user came":
      return trace.add(null, `${trace.name("u", happening.userId)} is there`);
    case "user left":
      return trace.add(null, `${trace.name("u", happening.left.userId)} is gone`);
    case "token erased":
      return trace.add(null, `a token of ${trace.name("u", happening.userId)} is erased`);
    case "rest looked for": {
      const { by, slug, nowMs, untilMs } = happening.look;
      return trace.add(null, `${by} looks for what rests in ${slug} for ${Math.round(nowMs - untilMs)} ms`);
    }
    case "writes lost":
      return trace.add(null, `${happening.node.name} fails over, ${happening.kept} writes are kept`);
    case "stragglers back":
      return trace.add(null, `${happening.node.name}: stragglers are back`);
    case "asked":
    case "begun": {
      const { nth, client, about, instance } = happening.exchange;
      const word = happening.type === "asked" ? "asks" : "reaches";
      const text = "text" in about ? ` “${about.text}”` : "";
      const uid = "uid" in about ? about.uid : null;
      return trace.add(uid, `${client} #${nth} ${word} ${instance}: ${about.type}${text}`);
    }
    case "answered":
    case "heard": {
      const { exchange, status } = happening;
      const uid = "uid" in exchange.about ? exchange.about.uid : null;
      const word =
        happening.type === "answered" ? `${exchange.instance} answers` : `${exchange.client} hears`;
      return trace.add(uid, `${word} #${exchange.nth}: ${status}`);
    }
    case "closed": {
      const { nth, client, isCut, lines, about } = happening.exchange;
      const uid = "uid" in about ? about.uid : null;
      const told = lines.map((line) =>
        "text" in line && line.type === "delta" ? line.text : JSON.stringify(line),
      );
      const text = told.join(" ").replaceAll(/x{100,}/g, "xx…");
      return trace.add(uid, `${client} #${nth} ${isCut ? "is cut" : "ends"}: ${text}`);
    }
    case "cancel begun":
    case "cancel ended":
      return trace.add(happening.cancel.uid, `${happening.cancel.by}: ${happening.type}`);
    case "model asked": {
      const { by, turn, thought } = happening;
      return trace.add(null, `${by} asks for thought ${thought.nth} of ${turn.run.runId}`);
    }
    case "tool called":
      return trace.add(null, `${happening.by} uses ${happening.call.tool} for ${happening.call.callId}`);
    case "fault":
      return trace.add(null, `${happening.by} is at fault: ${happening.text}`);
  }
}
