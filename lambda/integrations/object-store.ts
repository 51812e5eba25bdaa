import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ignoring } from '../domain/errors.ts';
import { RETENTION_TAG } from '../domain/object-keys.ts';

interface Download {
  readonly contentType: string;
  readonly filename?: string | undefined;
  /** The bucket deletes the object then; without it, when it deletes others of its kind. */
  readonly retentionDays?: number | undefined;
}

/** S3 did not do what was asked for. */
class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
}

const headersOf = ({ contentType, filename, retentionDays }: Download) => ({
  ContentType: contentType,
  ...(retentionDays !== undefined && { Tagging: `${RETENTION_TAG}=${retentionDays}` }),
  ...(filename !== undefined && { ContentDisposition: `attachment; filename="${filename}"` }),
});

/** An S3 client with timeouts. Checksums only where S3 wants them: a part's body is in memory and goes over TLS. */
const s3Client = (): S3Client =>
  new S3Client({
    maxAttempts: 3,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 30_000, throwOnRequestTimeout: true },
  });

/** Objects in one bucket. On one machine they are files in the data folder. @see lambda/domain/object-keys.ts for the keys */
export const openObjectStore = (bucket: string, s3 = s3Client()) => {
  const of = (Key: string) => ({ Bucket: bucket, Key });

  async function* list(prefix: string): AsyncGenerator<string[]> {
    let token: string | undefined;
    do {
      const page = await s3.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token }),
      );
      yield (page.Contents ?? []).flatMap(({ Key }) => Key ?? []);
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  const get = async (key: string, Range?: string): Promise<Uint8Array | undefined> => {
    try {
      const { Body } = await s3.send(new GetObjectCommand({ ...of(key), Range }));
      return await Body?.transformToByteArray();
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      // S3 denies an object that is not there to whoever may not list the bucket, as readers of day files.
      if (Range !== undefined && (error as Error).name === 'AccessDenied') return undefined;
      throw error;
    }
  };

  return {
    /** Writes a whole object. It replaces the object that has this key. */
    put: async (key: string, body: Uint8Array | string, download: Download): Promise<void> => {
      await s3.send(new PutObjectCommand({ ...of(key), Body: body, ...headersOf(download) }));
    },

    /** Undefined if there is none. */
    get: (key: string): Promise<Uint8Array | undefined> => get(key),

    /** Some bytes of an object, from `from` up to `to`, which is not among them. Undefined if there is no object. */
    getRange: (key: string, from: number, to: number): Promise<Uint8Array | undefined> =>
      get(key, `bytes=${from}-${to - 1}`),

    /** Keys by pages of up to 1,000. */
    list,

    /** Deletes every object whose key begins with the prefix. */
    deleteAll: async (prefix: string): Promise<void> => {
      for await (const keys of list(prefix)) {
        if (keys.length === 0) continue;
        const { Errors = [] } = await s3.send(
          new DeleteObjectsCommand({
            Bucket: bucket,
            Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true },
          }),
        );
        if (Errors.length > 0) throw new ObjectStoreError(`${Errors.length} objects could not be deleted.`);
      }
    },

    /** A link that anybody may use until it expires: at the latest with the credentials of the function that signed it. */
    signGet: (key: string, expiresInSeconds: number): Promise<string> =>
      getSignedUrl(s3, new GetObjectCommand(of(key)), { expiresIn: expiresInSeconds }),

    /** Begins an object that is written in parts, also by several processes. @returns the id of the upload */
    beginUpload: async (key: string, download: Download): Promise<string> => {
      const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ ...of(key), ...headersOf(download) }));
      if (UploadId === undefined) throw new ObjectStoreError('S3 gave an upload no id.');
      return UploadId;
    },

    /**
     * @param part from 1 to 10,000; a part that is there already is replaced
     * @param body at least 5 MiB, but for the last part
     * @returns the part's tag, which completes the upload
     */
    uploadPart: async (key: string, uploadId: string, part: number, body: Uint8Array): Promise<string> => {
      const { ETag } = await s3.send(
        new UploadPartCommand({ ...of(key), UploadId: uploadId, PartNumber: part, Body: body }),
      );
      if (ETag === undefined) throw new ObjectStoreError('S3 gave a part no tag.');
      return ETag;
    },

    /** @param tags of the parts, in their order */
    completeUpload: async (key: string, uploadId: string, tags: readonly string[]): Promise<void> => {
      await s3.send(
        new CompleteMultipartUploadCommand({
          ...of(key),
          UploadId: uploadId,
          MultipartUpload: { Parts: tags.map((ETag, index) => ({ ETag, PartNumber: index + 1 })) },
        }),
      );
    },

    /** Gives an upload up. Succeeds if there is none. */
    abortUpload: async (key: string, uploadId: string): Promise<void> => {
      await s3
        .send(new AbortMultipartUploadCommand({ ...of(key), UploadId: uploadId }))
        .catch(ignoring('NoSuchUpload'));
    },
  };
};

export type ObjectStore = ReturnType<typeof openObjectStore>;
