import type { ObjectStore } from './object-store.ts';

/** Reads objects of one bucket. The client of S3 is loaded for the first: people rarely ask for days that have left the table. */
export const openObjectReader = (bucket: string): Pick<ObjectStore, 'getRange'> => {
  let store: Promise<ObjectStore> | undefined;
  return {
    getRange: async (...range) => {
      store ??= import('#object-store').then(({ openObjectStore }) => openObjectStore(bucket));
      return (await store).getRange(...range);
    },
  };
};
