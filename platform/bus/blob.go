package bus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// errBlobMissing means that the body of a message is gone for good.
var errBlobMissing = errors.New("the body is not in the blob store")

// blobTimeout bounds one transfer of at most maxBody. A read whose chunks were removed
// after it found their description takes it to the full: the client can't be
// interrupted there.
const blobTimeout = 10 * time.Second

// putBlob stores a body under its hash. It is stored again even when it is there, so
// that it can't be removed between a look and the message's publish.
func (b *Bus) putBlob(ctx context.Context, body []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, blobTimeout)
	defer cancel()
	blobs, err := b.blobs(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	_, err = blobs.PutBytes(ctx, hash, body)
	if err != nil {
		return "", fmt.Errorf("put blob %s: %w", hash, err)
	}
	return hash, nil
}

// body is the message's body, from the blob store when it is there. The error is
// errBlobMissing when it will never be found.
func (b *Bus) body(ctx context.Context, header nats.Header, data []byte) ([]byte, error) {
	hash := header.Get(headerBlob)
	if hash == "" {
		return data, nil
	}
	ctx, cancel := context.WithTimeout(ctx, blobTimeout)
	defer cancel()
	blobs, err := b.blobs(ctx)
	if err != nil {
		return nil, err
	}
	body, err := blobs.GetBytes(ctx, hash)
	switch {
	case errors.Is(err, jetstream.ErrObjectNotFound),
		errors.Is(err, jetstream.ErrDigestMismatch),
		errors.Is(err, jetstream.ErrBadObjectMeta):
		return nil, fmt.Errorf("blob %s: %w", hash, errBlobMissing)
	case err != nil:
		return nil, fmt.Errorf("get blob %s: %w", hash, err)
	}
	return body, nil
}

// dropBlob removes the body of a message that is done with. What it leaves behind
// when it fails goes with the bucket's age limit. No other message has the same
// body: it holds task, attempt and delivery.
func (b *Bus) dropBlob(ctx context.Context, header nats.Header) {
	hash := header.Get(headerBlob)
	if hash == "" {
		return
	}
	ctx, cancel := asking(context.WithoutCancel(ctx))
	defer cancel()
	blobs, err := b.blobs(ctx)
	if err == nil {
		err = blobs.Delete(ctx, hash)
	}
	if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		b.log.DebugContext(ctx, "blob left behind", "blob", hash, "error", err)
	}
}
