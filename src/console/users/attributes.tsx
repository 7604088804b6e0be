import { Fact } from "../parts/fact.tsx";
import type { UserView } from "../service/views.ts";

/** What the site told of a user, a row each. */
export function Attributes({ attributes = {} }: { attributes: UserView["attributes"] | undefined }) {
  return (
    <>
      {Object.entries(attributes).map(([name, value]) => (
        <Fact key={name} name={name}>
          {String(value)}
        </Fact>
      ))}
    </>
  );
}
