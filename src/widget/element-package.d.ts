/** `chat-agent-service/element` for TypeScript: the element's types, and its tag in JSX of React 19 and in templates of Vue 3. */
import type {} from "./element-react.d.ts";
import type {} from "./element-vue.d.ts";

export * from "./element.js";
