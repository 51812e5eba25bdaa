import { Button } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { Nothing } from '../components/nothing.tsx';

/** A view failed to load or to draw. After a deployment, files of the one before may be gone: then a reload helps. */
export const RouteProblem = () => (
  <div className="page">
    <Nothing
      icon={CircleAlert}
      title="This page could not be shown"
      action={<Button onClick={() => location.reload()}>Reload</Button>}
    >
      The dashboard may have been updated while it was open.
    </Nothing>
  </div>
);
