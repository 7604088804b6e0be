import { Addresses } from "../administration/addresses.tsx";
import { Audit } from "../administration/audit.tsx";
import { Operators } from "../administration/operators.tsx";
import { ChannelPage } from "../channels/channel-page.tsx";
import { Channels } from "../channels/channels.tsx";
import { NewChannel } from "../channels/new-channel.tsx";
import { Webhooks } from "../channels/webhooks.tsx";
import { Conversation } from "../conversation/conversation.tsx";
import { Documents } from "../documents/documents.tsx";
import { ChannelThreads } from "../inbox/channel-threads.tsx";
import { Inbox } from "../inbox/inbox.tsx";
import { Overview } from "../overview/overview.tsx";
import { Empty } from "../parts/empty.tsx";
import { ChooseChannel } from "../users/choose-channel.tsx";
import { UserPage } from "../users/user-page.tsx";
import { Users } from "../users/users.tsx";
import { useRoute } from "./route.ts";
import { Titled } from "./titled.tsx";

/** The room that the address names. */
export function Room() {
  const { path, query } = useRoute();
  const [first, slug, kind, id] = path;
  switch (first) {
    case undefined:
      return <Overview query={query} />;
    case "inbox":
      return <Inbox query={query} />;
    case "users":
      return <ChooseChannel />;
    case "new-channel":
      return <NewChannel />;
    case "addresses":
      return <Addresses />;
    case "operators":
      return <Operators />;
    case "audit":
      return <Audit query={query} />;
    case "channels":
      if (slug === undefined) return <Channels />;
      if (kind === undefined) return <ChannelPage key={slug} slug={slug} />;
      if (kind === "webhooks" && id === undefined) return <Webhooks key={slug} slug={slug} />;
      if (kind === "documents" && id === undefined) return <Documents key={slug} slug={slug} />;
      if (kind === "users" && id === undefined) return <Users key={slug} slug={slug} query={query} />;
      if (kind === "users" && id !== undefined) return <UserPage key={id} slug={slug} userId={id} />;
      if (kind === "threads" && id === undefined)
        return <ChannelThreads key={slug} slug={slug} query={query} />;
      if (kind === "threads" && id !== undefined)
        return <Conversation key={id} slug={slug} id={id} query={query} />;
      return <Nowhere />;
    default:
      return <Nowhere />;
  }
}

function Nowhere() {
  return (
    <Titled title="Not found">
      <Empty title="The console has no such page.">
        <a href="#/">To the overview</a>
      </Empty>
    </Titled>
  );
}
