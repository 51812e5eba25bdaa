/** Milliseconds since 1970 of a request id. A request id is a UUIDv7: its first 48 bits are its time. Undefined for any other text. */
export const timeOfRequestId = (requestId: string): number | undefined => {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(requestId);
  return match ? Number.parseInt(`${match[1]}${match[2]}`, 16) : undefined;
};

/** Ids of one connection's responses repeat after this number, in the same millisecond only. */
const INDEX_VALUES = 4_096;

/**
 * The request id of a response on a WebSocket connection. Its time is the response's own; its last 16 digits are the connection's, by which the
 * records of a connection are found.
 *
 * @param connectionId the request id of the connection, a UUIDv7
 * @param index of the response on the connection, from 1
 * @param timeMs when the response began, milliseconds since 1970
 */
export const requestIdOfResponse = (connectionId: string, index: number, timeMs: number): string => {
  const time = timeMs.toString(16).padStart(12, '0');
  const counted = (index % INDEX_VALUES).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counted}-${connectionId.slice(19)}`;
};
