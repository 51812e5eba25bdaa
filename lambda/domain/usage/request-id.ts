/** Milliseconds since 1970 of a request id. A request id is a UUIDv7: its first 48 bits are its time. Undefined for any other text. */
export const timeOfRequestId = (requestId: string): number | undefined => {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(requestId);
  return match ? Number.parseInt(`${match[1]}${match[2]}`, 16) : undefined;
};
