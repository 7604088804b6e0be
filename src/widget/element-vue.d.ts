/** `<chat-agent>` in templates of Vue 3. Where Vue is not installed nobody can write it, and this file declares nothing. */
import type { ChatAgent, ChatAgentAttributes, ChatAgentEventMap, ChatAgentProperties } from "./element.d.ts";
// oxlint-disable typescript/no-redundant-type-constituents -- Vue is not installed here, and its types are `any`.
// @ts-ignore -- Vue need not be installed.
import type { HTMLAttributes, PublicProps } from "vue";

/** Vue's compiler looks attributes and events of a template up by their names in camel case. */
type InCamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<InCamelCase<Tail>>}`
  : Name;
type Attributes = Omit<ChatAgentAttributes, keyof ChatAgentProperties>;
type AttributeProps = { [Name in keyof Attributes as InCamelCase<Name>]: Attributes[Name] };
type Listeners = {
  [Name in keyof ChatAgentEventMap as `on${Capitalize<InCamelCase<Name>>}`]?: (
    event: ChatAgentEventMap[Name],
  ) => void;
};

/** What `<chat-agent>` takes in a template. */
export interface ChatAgentVueProps
  extends
    Omit<HTMLAttributes, keyof AttributeProps | keyof ChatAgentProperties | keyof PublicProps>,
    AttributeProps,
    Partial<ChatAgentProperties>,
    Listeners,
    PublicProps {}

/** Vue's compiler reads the props off an instance. */
export type ChatAgentVueElement = new () => ChatAgent & { $props: ChatAgentVueProps };

// @ts-ignore -- Vue need not be installed.
declare module "vue" {
  interface GlobalComponents {
    "chat-agent": ChatAgentVueElement;
  }
}
