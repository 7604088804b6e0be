import type { Suspicion } from "../../backup/rules.ts";
import { channelKey, globalKeys } from "../keys.ts";
import { isReadable } from "../../checks.ts";
import { channelKind } from "../../channel-record.ts";
import { jsonValue, listOf, textOf } from "../records.ts";
import type { Probe } from "./probe.ts";

/** Rules for channels and their list. */
export function channelRules({ redis, exists, field, suspect }: Probe) {
  async function channelSuspicions(name: string, slug: string): Promise<Suspicion[]> {
    const { channels: set, changes } = globalKeys;
    const unreadable = await suspect({
      rule: "record cannot be read",
      what: name,
      isStill: () => isUnreadable(name),
    });
    const unlisted = await suspect({
      rule: "channel is not listed",
      what: name,
      isStill: async () => (await redis.read(set, "SISMEMBER", set, slug)) === 0 && (await exists(name)),
      async mend() {
        await redis.call("change_set", { set, changes }, { command: "SADD", member: slug, always: "1" });
      },
    });
    return [...unreadable, ...unlisted];
  }

  async function isUnreadable(name: string): Promise<boolean> {
    const text = await field(name, "json");
    return text !== null && !isReadable(() => channelKind.read(jsonValue(text), name));
  }

  async function* listedChannelSuspicions(): AsyncIterable<Suspicion> {
    const { channels: set, changes } = globalKeys;
    const slugs = listOf(await redis.read(set, "SMEMBERS", set)).map(textOf);
    for (const slug of slugs) {
      const name = channelKey(slug);
      yield* await suspect({
        rule: "channel is listed and not there",
        what: name,
        isStill: async () => !(await exists(name)) && (await redis.read(set, "SISMEMBER", set, slug)) === 1,
        async mend() {
          await redis.call("change_set", { set, changes }, { command: "SREM", member: slug, always: "1" });
        },
      });
    }
  }

  return { channelSuspicions, listedChannelSuspicions };
}
