import { useEffect } from "preact/hooks";
import { Empty } from "../parts/empty.tsx";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { lastChannel } from "./last-channel.ts";

/** Users belong to a channel: the one that was looked at last, or the first. */
export function ChooseChannel() {
  const { channels, me } = useConsole();
  const slug = lastChannel(channels ?? []);
  useEffect(() => {
    if (slug !== null) go(linkTo(["channels", slug, "users"]), { replace: true });
  }, [slug]);
  if (channels === null || slug !== null) return <Titled title="Users">{null}</Titled>;
  return (
    <Titled title="Users">
      <Empty title="No channels yet, so there are no users.">
        {mayOf(me).makeChannels && <a href={linkTo(["new-channel"])}>Create a channel</a>}
      </Empty>
    </Titled>
  );
}
