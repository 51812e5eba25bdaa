/*
 * Takes the place of @smithy/core/event-streams in bundles: no operation that functions call streams events, and the module keeps whole
 * what all clients of the SDK share.
 */

/** The client of S3 calls this with its configuration, which stays as it is. */
export const resolveEventStreamSerdeConfig = <Configuration>(configuration: Configuration): Configuration =>
  configuration;

/** @throws Error: an operation streams events, so bundles need the real module */
export const eventStreamSerdeProvider = (): never => {
  throw new Error('Bundles have no event streams: see lib/constructs/function-bundle.ts.');
};
