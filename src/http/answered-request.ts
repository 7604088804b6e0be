/** What metrics count for a request. A stream counts as answered when its headers are sent. */
export interface AnsweredRequest {
  /** The route's pattern, or `none`: never the path, which a client can choose freely. */
  route: string;
  status: number;
  ms: number;
}
