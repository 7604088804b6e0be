import { attributesField } from "../domain/people/attributes.ts";
import type { Attributes } from "../domain/people/attributes.ts";
import type { userView } from "../operators/users.ts";
import { at } from "./command/ask.ts";
import { command } from "./command/command.ts";
import type { Call, Command, Family } from "./command/command.ts";
import { printFields, printJson } from "./command/print.ts";
import { printJsonPages, printTablePages } from "./command/print-pages.ts";

type User = ReturnType<typeof userView> & { attributes?: Attributes };

const SLUG = ["<slug>", "the channel"] as const;
const ONE = [SLUG, ["<user>", "external id, or user id"]] as const;

/** `chat-agent users`: the users of a channel, and their access. */
export const users: Family = {
  name: "users",
  does: "list, show, block, whitelist, export and delete the users of a channel",
  commands: [
    command({
      name: "list",
      does: "the users of a channel, oldest first",
      takes: [SLUG],
      json: "print a JSON array",
      asks: ({ api }, slug) => api.pages<User>(at`/channels/${slug}/users`, { order: "oldest" }),
      async prints(pages, { terminal, options }, slug) {
        if (options.json) return printJsonPages(terminal, pages, shown);
        const head = ["USER ID", "EXTERNAL ID", "NAME", "BLOCKED", "WHITELISTED"];
        const rowOf = (user: User) => Object.values(shown(user));
        await printTablePages(terminal, head, pages, rowOf, `Channel ${slug} has no users yet`);
      },
    }),
    command({
      name: "show",
      does: "one user",
      takes: ONE,
      json: "print JSON",
      asks: ({ api }, slug, user) => api.get<User>(at`/channels/${slug}/users/${user}`),
      prints: printUser,
    }),
    change("block", "refuse the user, in every access mode", { blocked: true }),
    change("unblock", "take a block back", { blocked: false }),
    change("whitelist", "allow the user in whitelist mode", { whitelisted: true }),
    change("unwhitelist", "take a whitelisting back", { whitelisted: false }),
    command({
      name: "revoke",
      does: "end all visitor tokens of the user: pages that hold one are strangers again",
      takes: ONE,
      json: "print the user as JSON",
      async asks({ api }, slug, user) {
        await api.post(at`/channels/${slug}/users/${user}/revoke`);
        return api.get<User>(at`/channels/${slug}/users/${user}`);
      },
      prints: printUser,
    }),
    command({
      name: "export",
      does: "print all that is kept of the user, one JSON record a line",
      takes: ONE,
      asks: ({ api }, slug, user) => api.lines(at`/channels/${slug}/users/${user}/export`),
      async prints(lines, { terminal }) {
        for await (const line of lines) terminal.out(`${JSON.stringify(JSON.parse(line))}\n`);
      },
    }),
    command({
      name: "delete",
      does: "delete the user with all conversations, for good; who comes again is a stranger",
      takes: ONE,
      json: "print JSON",
      async asks({ api }, slug, user) {
        const { userId } = await api.get<User>(at`/channels/${slug}/users/${user}`);
        const threads = (await api.all(at`/channels/${slug}/threads`, { userId })).length;
        await api.delete(at`/channels/${slug}/users/${userId}`);
        return { deleted: { userId, threads } };
      },
      prints(done, { terminal, options }) {
        if (options.json) return printJson(terminal, done);
        const { userId, threads } = done.deleted;
        terminal.out(`Deleted user ${userId} with ${threads} threads\n`);
      },
    }),
  ],
};

function change(name: string, does: string, flags: { blocked?: boolean; whitelisted?: boolean }): Command {
  return command({
    name,
    does,
    takes: ONE,
    json: "print the user as JSON",
    options: flags.blocked ? [["--stop", "stop the user's runs, and what waits behind them"]] : [],
    async asks({ api, options, terminal }: Call<{ stop?: boolean }>, slug, user) {
      const changed = await api.patch<User>(at`/channels/${slug}/users/${user}`, flags);
      if (options.stop) {
        const path = at`/channels/${slug}/users/${changed.userId}/stop`;
        const { threads } = await api.post<{ threads: number }>(path);
        terminal.err(`Stopped in ${threads} threads\n`);
      }
      return changed;
    },
    prints: printUser,
  });
}

/** In the order of the list's columns. */
function shown({ userId, externalUserId, displayName, blocked, whitelisted }: User) {
  return { userId, externalUserId, displayName, blocked, whitelisted };
}

function printUser(user: User, { terminal, options }: Call): void {
  const fields = { ...shown(user), ...attributesField(user.attributes) };
  if (options.json) printJson(terminal, fields);
  else printFields(terminal, fields);
}
