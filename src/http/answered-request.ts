/** What metrics count of a request. A stream counts as answered when its headers are on their way. */
export interface AnsweredRequest {
  /** The route's pattern, or `none`: never a path, which anybody may choose. */
  route: string;
  status: number;
  ms: number;
}
