import { createHash } from 'node:crypto';
import type { ObjectStore } from '../integrations/object-store.ts';

/** S3 takes parts of 5 MiB or more, and at most 10,000 of them. */
const PART_BYTES = 16 * 1_024 * 1_024;

/** A whole object, written as its bytes come. Who reads the key meanwhile gets the object that was there before. */
export const openUpload = (
  objects: Pick<ObjectStore, 'put' | 'beginUpload' | 'uploadPart' | 'completeUpload' | 'abortUpload'>,
  key: string,
  contentType: string,
  retentionDays?: number,
) => {
  const download = { contentType, retentionDays, filename: key.slice(key.lastIndexOf('/') + 1) };
  let uploadId: string | undefined;
  const tags: string[] = [];
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let bytes = 0;
  const hash = createHash('sha256');

  const uploadPart = async (): Promise<void> => {
    uploadId ??= await objects.beginUpload(key, download);
    const body = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    tags.push(await objects.uploadPart(key, uploadId, tags.length + 1, body));
  };

  return {
    write: async (chunk: Uint8Array): Promise<void> => {
      waiting.push(chunk);
      waitingBytes += chunk.length;
      bytes += chunk.length;
      hash.update(chunk);
      if (waitingBytes >= PART_BYTES) await uploadPart();
    },

    /** Replaces the object. */
    finish: async (): Promise<{ readonly bytes: number; readonly sha256: string }> => {
      if (uploadId === undefined) await objects.put(key, Buffer.concat(waiting), download);
      else {
        if (waitingBytes > 0) await uploadPart();
        await objects.completeUpload(key, uploadId, tags);
      }
      return { bytes, sha256: hash.digest('hex') };
    },

    /** Leaves the object as it was. */
    abort: async (): Promise<void> => {
      if (uploadId !== undefined) await objects.abortUpload(key, uploadId);
    },
  };
};
