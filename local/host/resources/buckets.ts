import { BucketAlreadyOwnedByYou, CreateBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { type App, definitions } from '../template/definitions.ts';

/** Makes every bucket of the templates that is not there yet. */
export const createBuckets = async (app: App, config: S3ClientConfig): Promise<void> => {
  const s3 = new S3Client(config);
  for (const { ref } of definitions(app, z.object({}), 'AWS::S3::Bucket')) {
    try {
      await s3.send(new CreateBucketCommand({ Bucket: ref }));
    } catch (error) {
      if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
    }
  }
  s3.destroy();
};
