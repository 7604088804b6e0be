/** `<chat-agent>` in templates of Vue 3. If Vue is not installed, this file declares nothing. */
import type { ChatAgent, ChatAgentAttributes, ChatAgentEventMap, ChatAgentProperties } from "./element.d.ts";
// oxlint-disable typescript/no-redundant-type-constituents -- Vue is not installed here, and its types are `any`.
// @ts-ignore -- Vue need not be installed.
import type { HTMLAttributes, PublicProps } from "vue";

/** Vue's compiler looks up a template's attributes and events by their camel-case names. */
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

/** The props of `<chat-agent>` in a template. */
export interface ChatAgentVueProps
  extends
    Omit<HTMLAttributes, keyof AttributeProps | keyof ChatAgentProperties | keyof PublicProps>,
    AttributeProps,
    Partial<ChatAgentProperties>,
    Listeners,
    PublicProps {}

/** Vue's compiler takes the props from the instance type. */
export type ChatAgentVueElement = new () => ChatAgent & { $props: ChatAgentVueProps };

// @ts-ignore -- Vue need not be installed.
declare module "vue" {
  interface GlobalComponents {
    "chat-agent": ChatAgentVueElement;
  }
}
