import { channelKind } from "../records/channel-record.ts";
import { isReadable } from "../checks.ts";
import type { Engine } from "../engine.ts";
import { jsonValue } from "../records/json-value.ts";
import { operatorKind } from "../records/operator-records.ts";
import { tellingFields } from "../steps/notice.ts";
import { placedEntry } from "../steps/operators.ts";
import { tables } from "../tables.ts";
import { fieldsChecker, keyChecker, membersChecker } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";

/** Rules for channels and their list, for operators, and for the audit. */
export function serviceCheckers(
  engine: Engine,
): Record<"channel" | "channels" | "operators" | "audit", Checker[]> {
  const { channels } = tables;
  const changeField = tellingFields(engine);

  const channel = keyChecker(async ({ key, tag: slug }) => {
    const [[isThere, [json = null]], [[listed = null]]] = await Promise.all([
      engine.read([
        { read: "exists", key },
        { read: "fields", key, fields: ["json"] },
      ]),
      engine.read([{ read: "fields", key: channels.key, fields: [slug] }]),
    ]);
    if (!isThere) return [];
    const found: Fault[] = [];
    if (!isReadable(() => channelKind.read(jsonValue(json ?? ""), key))) {
      found.push({ rule: "record cannot be read", what: key });
    }
    if (listed === null) {
      const mend = () => changeField(channels, slug, () => ({ to: "", answer: true }));
      found.push({ rule: "channel is not listed", what: key, mend });
    }
    return found;
  });

  const listedChannel = fieldsChecker(engine, async (_, listed) => {
    const found = listed.map(async ([slug]): Promise<Fault[]> => {
      const key = tables.channel.key(slug);
      const [isThere] = await engine.read([{ read: "exists", key }]);
      if (isThere) return [];
      const mend = () => changeField(channels, slug, () => ({ to: null, answer: true }));
      return [{ rule: "channel is listed and not there", what: key, entry: slug, mend }];
    });
    return (await Promise.all(found)).flat();
  });

  const operator = fieldsChecker(engine, async ({ key }, operators) =>
    operators
      .filter(([name, json]) => !isReadable(() => operatorKind.read(jsonValue(json), name)))
      .map(([name]) => ({ rule: "record cannot be read", what: `${key} ${name}`, entry: name })),
  );

  const audit = membersChecker(engine, async ({ key }, entries) =>
    entries
      .filter((entry) => !isReadable(() => placedEntry(entry)))
      .map(([entry, place]) => ({ rule: "record cannot be read", what: `${key} ${place}`, entry })),
  );

  return { channel: [channel], channels: [listedChannel], operators: [operator], audit: [audit] };
}
